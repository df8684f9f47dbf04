//! Small models made in the test itself: a hand-written encoder of the `ModelProto` fields that matter.

use trie_compiler::Options;
use trie_runtime::{Image, Reference, Tokenizer};

/// A piece: text, score, type number.
pub type Piece = (Vec<u8>, f32, u8);

/// The fields of a model.
#[derive(Debug, Clone)]
pub struct ModelSpec {
    /// In order.
    pub pieces: Vec<Piece>,
    /// `trainer_spec.byte_fallback`; the 256 byte pieces are the caller's.
    pub byte_fallback: bool,
    /// `trainer_spec.treat_whitespace_as_suffix`.
    pub suffix: bool,
    /// `normalizer_spec`: dummy prefix, remove extra whitespaces, escape whitespaces.
    pub switches: [bool; 3],
}

impl Default for ModelSpec {
    /// `<unk>`, no other piece, all switches on.
    fn default() -> Self {
        Self {
            pieces: vec![(b"<unk>".to_vec(), 0.0, 2)],
            byte_fallback: false,
            suffix: false,
            switches: [true; 3],
        }
    }
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn bytes_field(tag: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint(tag << 3 | 2, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn bool_field(tag: u64, value: bool, out: &mut Vec<u8>) {
    varint(tag << 3, out);
    out.push(u8::from(value));
}

impl ModelSpec {
    /// The tokenizer of the model.
    ///
    /// # Panics
    /// If the model cannot be compiled.
    #[must_use]
    pub fn tokenizer(&self, reference: Reference) -> Tokenizer {
        let options = Options::default().with_reference(reference);
        let image = trie_compiler::compile(&self.encode(), &options).expect("a sound model");
        Tokenizer::new(Image::from_bytes(&image).expect("a fresh image is sound"))
    }

    /// The serialized `ModelProto`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut model = Vec::new();
        for (text, score, piece_type) in &self.pieces {
            let mut piece = Vec::new();
            bytes_field(1, text, &mut piece);
            varint(2 << 3 | 5, &mut piece);
            piece.extend_from_slice(&score.to_le_bytes());
            varint(3 << 3, &mut piece);
            piece.push(*piece_type);
            bytes_field(1, &piece, &mut model);
        }
        let mut trainer = Vec::new();
        bool_field(24, self.suffix, &mut trainer);
        bool_field(35, self.byte_fallback, &mut trainer);
        bytes_field(2, &trainer, &mut model);
        let mut normalizer = Vec::new();
        for (tag, switch) in (3..).zip(self.switches) {
            bool_field(tag, switch, &mut normalizer);
        }
        bytes_field(3, &normalizer, &mut model);
        model
    }
}
