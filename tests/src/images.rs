//! Crafted images: damaged in a chosen place, with checksums made right again, and used all the same.

use trie_format::{HEADER_LEN, Header, ImageView, SectionEntry, checksum, image_id};
use trie_runtime::{
    DecodeOptions, DecodeStream, EncodeOptions, Image, OffsetUnit, Replacement, SampleFrom,
    Scratch, SplitMix64, Tokenizer, Truncation,
};

/// A copy of some bytes that starts on a 64-byte boundary.
pub struct Aligned {
    buffer: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// Copies `bytes`.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let mut buffer = vec![0; bytes.len() + 64];
        let start = buffer.as_ptr().align_offset(64);
        buffer[start..start + bytes.len()].copy_from_slice(bytes);
        Self {
            buffer,
            start,
            len: bytes.len(),
        }
    }
}

impl std::ops::Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.len]
    }
}

/// The section table of a sound image.
///
/// # Panics
/// If the image is not sound.
#[must_use]
pub fn section_table(image: &[u8]) -> Vec<SectionEntry> {
    let image = Aligned::new(image);
    ImageView::parse(&image)
        .expect("a sound image")
        .entries()
        .to_vec()
}

/// Makes all checksums of `image` right again, as far as its section table makes sense.
///
/// # Panics
/// If `image` is shorter than its header and table.
pub fn reseal(image: &mut [u8]) {
    assert!(try_reseal(image), "shorter than its header and table");
}

/// [`reseal`] for any bytes; returns whether there were a header and a table.
pub fn try_reseal(image: &mut [u8]) -> bool {
    let Some(head) = image.get(..HEADER_LEN) else {
        return false;
    };
    let mut header: Header = bytemuck::pod_read_unaligned(head);
    let table_end = HEADER_LEN + header.section_count as usize * size_of::<SectionEntry>();
    let Some(table) = image.get(HEADER_LEN..table_end) else {
        return false;
    };
    let mut table = table.to_vec();
    for entry_bytes in table.chunks_exact_mut(size_of::<SectionEntry>()) {
        let mut entry: SectionEntry = bytemuck::pod_read_unaligned(entry_bytes);
        let end = entry.offset.saturating_add(entry.length);
        if let Some(section) = image.get(entry.offset as usize..end as usize) {
            entry.checksum = checksum(section);
        }
        entry_bytes.copy_from_slice(bytemuck::bytes_of(&entry));
    }
    header.image_id = image_id(&table);
    header.header_checksum = header.compute_checksum(&table);
    image[..HEADER_LEN].copy_from_slice(bytemuck::bytes_of(&header));
    image[HEADER_LEN..table_end].copy_from_slice(&table);
    true
}

/// Does with `image` all that a user can do. Must not panic, whatever the image says.
pub fn use_image(image: Image) {
    let tokenizer = Tokenizer::new(image);
    let mut scratch = Scratch::new();
    let long = "a\u{2581}b \u{30ab}\u{3099}".repeat(200);
    let texts: [&[u8]; 6] = [
        b"",
        b" hello  world ",
        "na\u{ef}ve \u{fb01} \u{fdfa} \u{3042}\u{1f600}".as_bytes(),
        b"\xff\xfe\x80 a\xe3\x81",
        b"<s>foo\0bar</s>\x01\n",
        long.as_bytes(),
    ];
    for text in texts {
        let ids = tokenizer.encode(text, &mut scratch).to_vec();
        let options = EncodeOptions::default()
            .with_special_tokens(true)
            .with_pieces(true)
            .with_masks(true)
            .with_offsets(OffsetUnit::Chars);
        let pieces: Vec<Vec<u8>> = match tokenizer.encode_with(text, &options, &mut scratch) {
            Ok(encoding) => encoding.pieces().map(<[u8]>::to_vec).collect(),
            Err(_) => Vec::new(),
        };
        let short = options
            .with_overflowing(true)
            .with_truncation(Truncation::new(5).with_stride(1));
        if let Ok(encoding) = tokenizer.encode_pair(text, b"b", &short, &mut scratch) {
            let _ = encoding.to_buf();
        }
        let _ = tokenizer.decode(&ids, &mut scratch);
        let _ = tokenizer.decode_pieces(&pieces, &mut scratch);
        let _ = tokenizer.normalize(text, &mut scratch);
        let _ = tokenizer.piece_to_id(text);
        use_lattice(&tokenizer, text, &ids);
        use_stream(&tokenizer, &ids);
    }
    let count = tokenizer.piece_count();
    for id in (0..count.min(300)).chain([count, u32::MAX]) {
        let _ = (tokenizer.score(id), tokenizer.piece_type(id));
        let _ = tokenizer.decode(&[id, 0, id], &mut scratch);
        if let Some(text) = tokenizer.piece(id) {
            let _ = tokenizer.piece_to_id(text);
        }
    }
    let _ = tokenizer.special_ids();
    let _ = tokenizer.self_test();
    let _ = tokenizer.image().report().to_string();
}

fn use_lattice(tokenizer: &Tokenizer, text: &[u8], ids: &[u32]) {
    let mut random = SplitMix64::new(1);
    let _ = tokenizer.score_of(ids);
    let _ = tokenizer.nbest(text, 3);
    let _ = tokenizer.entropy(text, 0.5);
    let _ = tokenizer.explain(text, 2);
    for from in [SampleFrom::All, SampleFrom::Best(3)] {
        let _ = tokenizer.sample(text, 0.5, from, || random.next_u64());
    }
    for replacement in [Replacement::With, Replacement::WithoutBestFirst] {
        let random = || random.next_u64();
        let _ = tokenizer.sample_with_scores(text, 3, 0.5, replacement, random);
    }
}

fn use_stream(tokenizer: &Tokenizer, ids: &[u32]) {
    let options = DecodeOptions::default().with_skip_special_tokens(false);
    let mut stream = DecodeStream::new(tokenizer, &options);
    for &id in ids.iter().take(300).chain(&[0, u32::MAX]) {
        let _ = stream.push(id);
    }
    let _ = stream.finish();
}

/// A small, fixed pseudo-random sequence (splitmix64), so that failures can be run again.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.draw() % limit as u64) as usize
    }
}
