//! The image of an offline-compiled Unigram tokenizer: what is in the file, and how it is checked.
//!
//! One definition shared by the compiler that writes images and the runtime that reads them.
//! `no_std`, no allocation, no I/O, no `unsafe` but in [`ValidImage::assume_valid`]. The prose specification, from
//! which a reader in another language can be written, is `FORMAT.md` beside this crate's manifest.
//!
//! # From bytes to a usable image
//!
//! | step | guarantees | cost |
//! |---|---|---|
//! | [`Header::parse`] | right magic, byte order, version, header checksum and file length | constant: at most [`MAX_SECTIONS`] table entries |
//! | [`ImageView::parse`] | sections in bounds, aligned, ascending, known if required, of agreeing sizes; metadata well-formed and in range | constant: the sections' contents are not read, except the metadata and the names it refers to |
//! | [`ImageView::validate`] | every index stored in a section is in bounds, so that walks from node to node need no checks: see [`ValidImage`] | one linear pass over the sections |
//! | [`ImageView::verify_checksums`], or [`ChecksumStream`] while the file arrives | every section is as written, and the padding is zero | one linear pass over the file |
//!
//! A checksum finds damage, not malice: anyone can compute one. Memory safety rests on
//! [`ImageView::validate`] alone, which is why [`ValidImage`] can only be had through it, or by vouching in
//! `unsafe` code for bytes that have been through it.

#![no_std]
#![deny(unsafe_code)]

#[cfg(target_endian = "big")]
compile_error!(
    "images are little-endian and are used in place: big-endian hosts are not supported"
);

pub mod automaton;
pub mod charsmap;
mod checksum;
mod error;
mod first;
mod header;
mod metadata;
mod node;
pub mod parts;
mod pieces;
pub mod pipeline;
mod plain;
mod section;
mod sections;
mod self_test;
pub mod trie;
mod view;

pub use automaton::Automaton;
pub use charsmap::{CharsmapError, CharsmapView, MAX_RULE_MATCHES};
pub use checksum::{ChecksumStream, checksum, image_id};
pub use error::FormatError;
pub use first::{FIRST_INDEX_LEN, First, FirstChars};
pub use header::{
    ENDIAN_MARK, FORMAT_MAJOR, FORMAT_MINOR, HEADER_LEN, Header, MAGIC, MAX_SECTIONS, SectionEntry,
    const_check_header,
};
pub use metadata::{
    ArchivedMetadata, ArchivedReference, IdMap, Metadata, NO_ID, NormalizerFlags, PieceType,
    Preset, Reference, Template, TextRange,
};
pub use node::{Child, DETACHED, MAX_PIECE_BYTES, MAX_PIECES, NODE_LEN, Node, Skip, TAIL};
pub use parts::{BakedParts, JoinedPairs};
pub use pieces::{IndexEntry, PIECES_PER_ENTRY, PieceTable, WIDE};
pub use pipeline::PipelineView;
pub use plain::{PLAIN_WORDS, PlainChars};
pub use section::{SECTION_ALIGN, SECTION_REQUIRED, SectionKind};
pub use self_test::SelfTest;
pub use trie::TrieView;
pub use view::{ImageView, ValidImage};
