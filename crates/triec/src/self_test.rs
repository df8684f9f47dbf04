//! Texts that go into an image with their ids: given ones, or some of many scripts.

use std::path::Path;

use trie_compiler::{Pair, with_self_test};
use trie_runtime::oracle::normalize_by_rules;
use trie_runtime::{Image, Reference, Scratch, Tokenizer};

use crate::error::CliError;
use crate::jsonl;

/// What different parts of the encoder see to: scripts, forms that normalization changes, white space, names of
/// special tokens, long words, unknown characters, bytes that are no character.
const PROBES: &[&[u8]] = &[
    b"",
    b"Hello World!",
    b" two  spaces, a\ttab and\r\nlines ",
    b"The quick brown fox jumps over the lazy dog, 1,234.56 times (at 10:30 a.m.).",
    b"https://example.org/a_b?c=d&e=f#g {\"key\": [1, 2.5, null]}",
    b"<s>special</s> <pad> <mask> <unk> tokens",
    "Ça va? Über naïve façades — “déjà vu”, ½ œuvre…".as_bytes(),
    "\u{fb01}ne print, ＦＵＬＬ width, cafe\u{301}, \u{2167}, \u{1e9b}\u{323}".as_bytes(),
    "Быстрая коричневая лиса прыгает через ленивую собаку".as_bytes(),
    "Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί".as_bytes(),
    "השועל החום המהיר קופץ מעל הכלב העצלן".as_bytes(),
    "الثعلب البني السريع يقفز فوق الكلب الكسول ﷺ".as_bytes(),
    "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है".as_bytes(),
    "দ্রুত বাদামী শিয়াল অলস কুকুরের উপর লাফ দেয়".as_bytes(),
    "விரைவான பழுப்பு நரி சோம்பேறி நாயின் மேல் குதிக்கிறது".as_bytes(),
    "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ".as_bytes(),
    "敏捷的棕色狐狸跳过了懒狗。".as_bytes(),
    "素早い茶色の狐がのろまな犬を飛び越える。ｶﾞｷﾞ".as_bytes(),
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다 \u{1112}\u{1161}\u{11ab}".as_bytes(),
    "👍🏽 👨‍👩‍👧 🇫🇷 \u{1f600}\u{20000}\u{10ffff}".as_bytes(),
    "\u{200b}zero\u{ad}width\u{feff} \u{2581}meta\u{2581}\u{a0}\u{3000}space".as_bytes(),
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    b"Donaudampfschiffahrtsgesellschaftskapitaensmuetze antidisestablishmentarianism qzxjkvwpf",
    b"no \xff\xfe character \xe3\x81 here \xf0\x9f\x98 \x00\x01\x7f",
];

/// `image` with the texts of the file at `path`, or with [`PROBES`], for its self-test.
pub(crate) fn add(image: &[u8], path: Option<&Path>) -> Result<Vec<u8>, CliError> {
    let tokenizer = Tokenizer::new(Image::from_bytes(image)?);
    let pairs = match path {
        Some(path) => given(path)?,
        None => PROBES
            .iter()
            .map(|text| (text.to_vec(), plain_ids(&tokenizer, text)))
            .collect(),
    };
    let image = with_self_test(image, &pairs)?;
    // The ids are those of the reference, or of the plain way: the fast way must give the same.
    Tokenizer::new(Image::from_bytes(&image)?)
        .self_test()
        .map_err(|error| CliError::Line {
            place: path.map_or("the self-test".into(), |path| path.display().to_string()),
            reason: error.to_string(),
        })?;
    Ok(image)
}

/// The ids of `text` by the plain way, where there is one: every character looked up in the rules, one pass over the
/// whole text.
fn plain_ids(tokenizer: &Tokenizer, text: &[u8]) -> Vec<u32> {
    let reference = Reference::from(tokenizer.image().view().metadata().reference);
    if reference == Reference::HuggingFace023 {
        return tokenizer.encode_to_vec(text);
    }
    let normalized = normalize_by_rules(tokenizer, text);
    let mut scratch = Scratch::new();
    tokenizer
        .encode_normalized(normalized, &mut scratch)
        .to_vec()
}

/// The pairs of a file, one JSON object a line.
fn given(path: &Path) -> Result<Vec<Pair>, CliError> {
    let place = path.display();
    let bytes = std::fs::read(path).map_err(|source| CliError::read(&place, source))?;
    let lines = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let mut pairs = Vec::new();
    for (line, number) in lines.split(|&byte| byte == b'\n').zip(1..) {
        let bad = |reason| CliError::Line {
            place: format!("{place}, line {number}"),
            reason,
        };
        let text = jsonl::read_text(line).map_err(bad)?.into_owned();
        pairs.push((text, jsonl::read_ids(line).map_err(bad)?));
    }
    Ok(pairs)
}
