//! Texts with their ids, put into a finished image for readers to try themselves on.

use trie_format::{HEADER_LEN, Header, SectionEntry, SectionKind};

use crate::error::CompileError;
use crate::writer::{Section, assemble};

/// A text, not necessarily UTF-8, and its ids, without special tokens.
pub type Pair = (Vec<u8>, Vec<u32>);

/// `image` with these pairs for its self-test, in place of those it has. With none, without a self-test.
///
/// What the ids should be is for the caller to know: this crate does not encode.
///
/// # Errors
/// [`CompileError::Image`] if `image` is none, [`CompileError::TooLarge`] if a text is.
pub fn with_self_test(image: &[u8], pairs: &[Pair]) -> Result<Vec<u8>, CompileError> {
    let mut words: Vec<u32> = Vec::new();
    let number = |len: usize| {
        u32::try_from(len).map_err(|_| CompileError::TooLarge {
            what: "a text of the self-test",
            limit: u64::from(u32::MAX),
        })
    };
    for (text, ids) in pairs {
        words.extend([number(text.len())?, number(ids.len())?]);
        words.extend(ids);
        words.extend(text.chunks(4).map(|chunk| {
            let mut bytes = [0; 4];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(bytes)
        }));
    }
    // On the boundary that the header needs.
    let mut prefix = [0u64; Header::PREFIX_LEN / size_of::<u64>()];
    let prefix: &mut [u8] = bytemuck::cast_slice_mut(&mut prefix);
    let known = image.len().min(prefix.len());
    prefix[..known].copy_from_slice(&image[..known]);
    let (_, entries) = Header::parse(&prefix[..known], image.len() as u64)?;
    let mut sections = entries
        .iter()
        .filter(|entry| entry.kind != SectionKind::SelfTest.number())
        .map(|entry| section(image, entry))
        .collect::<Result<Vec<Section<'_>>, CompileError>>()?;
    if !words.is_empty() {
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        sections.push(Section::new(SectionKind::SelfTest, bytes));
    }
    Ok(assemble(&sections))
}

fn section<'a>(image: &'a [u8], entry: &SectionEntry) -> Result<Section<'a>, CompileError> {
    let kind = SectionKind::from_number(entry.kind)
        .ok_or(trie_format::FormatError::UnknownRequiredSection { kind: entry.kind })?;
    let start = usize::try_from(entry.offset).unwrap_or(usize::MAX);
    let len = usize::try_from(entry.length).unwrap_or(usize::MAX);
    let bytes = start
        .checked_add(len)
        .and_then(|end| image.get(start..end))
        .filter(|_| start >= HEADER_LEN)
        .ok_or(trie_format::FormatError::MissingSection { kind })?;
    Ok(Section::new(kind, bytes))
}
