//! Parts of text that are segmented by themselves, and the answers that are known beforehand.
//!
//! Invariant: what is left out only costs time. A pair of characters that some piece has side by side is always
//! among the joined; a part is baked only if nothing that a float32 sum before it can do changes its best
//! segmentation ("Parts" in `trie-runtime`'s `EXACTNESS.md`, where the bound is derived).

use std::collections::BTreeSet;

use bytemuck::Zeroable;
use trie_format::TrieView;
use trie_format::parts::{
    ASCII_PAIR_WORDS, BakedPart, BakedParts, Bucket, JoinedPairs, MAX_KEY_BYTES, MAX_MAGNITUDE,
    PairsHeader, PartKey, bytes_of,
};

use crate::automaton;
use crate::charsmap::Charsmap;
use crate::trie::{Key, Trie};
use crate::vocab::Vocab;

/// The sections.
pub(crate) struct PartTables {
    pub(crate) header: PairsHeader,
    /// ASCII pairs, then the others.
    pub(crate) pairs: Vec<u64>,
    pub(crate) baked: Vec<Bucket>,
    /// A section, if it is wanted and can be.
    pub(crate) automaton: Option<Vec<u8>>,
}

/// Bits for each pair with a character beyond ASCII: of pairs that are not joined, one in so many, or fewer, is
/// taken for joined.
const BITS_PER_PAIR: usize = 8;

/// Of so many pieces one, the likeliest, is baked that does not begin with U+2581: the automaton finds the others.
const BAKED_PARTS: usize = 20;

/// Half the distance of two float32 numbers between 65,536 and 131,072, and a little more: what one addition
/// can be wrong by, as far as baked parts are given out.
const ROUNDING: f64 = 0.003_91;

/// The parts of a vocabulary, of which `trie` holds the keys, with these rules.
///
/// With an automaton, and if U+2581 only begins pieces, all words are baked and of other parts the likely ones.
///
/// `None` if a piece or a replacement is not UTF-8, as then normalized text need not be, or if a score is too great.
pub(crate) fn tables(
    vocab: &Vocab<'_>,
    trie: &Trie,
    charsmap: Option<&Charsmap>,
    with_automaton: bool,
) -> Option<PartTables> {
    let (keys, unk_score) = (vocab.trie_keys.as_slice(), vocab.unk_score);
    if !charsmap.is_none_or(Charsmap::is_utf8) {
        return None;
    }
    let magnitude = keys
        .iter()
        .map(|key| key.score64.abs())
        .fold(unk_score.abs(), f64::max) as f32;
    // The lesser of a double's neighbours may be below it.
    let magnitude = magnitude.next_up();
    if magnitude > MAX_MAGNITUDE {
        return None;
    }
    let mut ascii = vec![0u64; ASCII_PAIR_WORDS];
    let mut others = BTreeSet::new();
    let mut leading_space = true;
    for key in keys {
        let text = std::str::from_utf8(key.text).ok()?;
        for (first, second) in text.chars().zip(text.chars().skip(1)) {
            leading_space &= second != '\u{2581}';
            if let (Ok(first), Ok(second)) = (u8::try_from(first), u8::try_from(second))
                && first.is_ascii()
                && second.is_ascii()
            {
                let (word, bit) = JoinedPairs::ascii_place(first, second);
                ascii[word] |= 1 << bit;
            } else {
                others.insert((bytes_of(first), bytes_of(second)));
            }
        }
    }
    let is_word = |key: &Key<'_>| leading_space && key.text.starts_with(&PartKey::SPACE);
    let automaton = with_automaton
        .then(|| automaton::section(keys.iter().filter(|key| !is_word(key))))
        .flatten();
    let most_others = match automaton.is_some() && leading_space {
        true => keys.len() / BAKED_PARTS,
        false => usize::MAX,
    };
    let baked = place(bake(vocab, trie.view(), most_others));
    let mut pairs = ascii;
    pairs.extend(hashed(&others));
    Some(PartTables {
        header: PairsHeader {
            magnitude,
            flags: match leading_space {
                true => PairsHeader::LEADING_SPACE,
                false => 0,
            },
            reserved: [0; 7],
        },
        pairs,
        baked,
        automaton,
    })
}

/// A bit for each pair's hash.
fn hashed(pairs: &BTreeSet<(u32, u32)>) -> Vec<u64> {
    let bits = (pairs.len() * BITS_PER_PAIR).next_power_of_two().max(64);
    let shift = 64 - bits.trailing_zeros();
    let mut words = vec![0u64; bits / 64];
    for &(first, second) in pairs {
        let bit = JoinedPairs::other_bit(first, second, shift);
        words[bit / 64] |= 1 << (bit % 64);
    }
    words
}

/// The pieces that are their own best segmentation, by enough, the likely ones first. Of those that do not begin with U+2581 no more
/// than `most_others`.
fn bake(vocab: &Vocab<'_>, trie: TrieView<'_>, mut most_others: usize) -> Vec<BakedPart> {
    let ids = vocab.trie_keys.iter().map(|key| key.id as usize + 1);
    let mut scores = vec![0.0; ids.max().unwrap_or(0)];
    for key in &vocab.trie_keys {
        scores[key.id as usize] = key.score64;
    }
    let mut baked = Vec::new();
    let mut best = Vec::new();
    // Under the Hugging Face reference a literal unknown piece joins the unknown characters beside it.
    let mut keys: Vec<&Key<'_>> = vocab.trie_keys.iter().collect();
    keys.retain(|key| key.id != vocab.unk_id);
    keys.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    for key in keys {
        let Some(part) = PartKey::new(key.text) else {
            continue;
        };
        if !part.after_space() && most_others == 0 {
            continue;
        }
        // The runtime adds the single-precision score.
        if f64::from(key.score) != key.score64 {
            continue;
        }
        let rival = best_of_several(key.text, trie, &scores, vocab.unk_score, &mut best);
        let chars = key.text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        if key.score64 - rival > 2.0 * chars as f64 * ROUNDING {
            most_others -= usize::from(!part.after_space());
            baked.push(BakedPart {
                key: part,
                id: key.id,
                score: key.score,
            });
        }
    }
    baked
}

/// The score of the best segmentation of `text` into several tokens, with the pieces' `scores`. `best` is working
/// space.
fn best_of_several(
    text: &[u8],
    trie: TrieView<'_>,
    scores: &[f64],
    unk_score: f64,
    best: &mut Vec<f64>,
) -> f64 {
    best.clear();
    best.resize(text.len() + 1, f64::NEG_INFINITY);
    best[0] = 0.0;
    for start in 0..text.len() {
        let till_here = best[start];
        let rest = &text[start..];
        // Between the bytes of a character nothing starts.
        if rest[0] & 0xc0 == 0x80 {
            continue;
        }
        let char_len = 1 + rest[1..].iter().take_while(|&&b| b & 0xc0 == 0x80).count();
        let mut single = false;
        trie.walk(rest, |len, id| {
            single |= len == char_len;
            if len < text.len() {
                let end = start + len;
                best[end] = best[end].max(till_here + scores[id as usize]);
            }
        });
        if !single && char_len < text.len() {
            let end = start + char_len;
            best[end] = best[end].max(till_here + unk_score);
        }
    }
    best[text.len()]
}

/// Puts parts into buckets, the first ones where they are found first. One that finds no room is left out.
fn place(parts: Vec<BakedPart>) -> Vec<Bucket> {
    let count = (parts.len() * 5).div_ceil(9).max(1);
    let mut buckets = vec![[BakedPart::zeroed(); 2]; count];
    for part in parts {
        let free = BakedParts::places(part.key.hash(), count)
            .into_iter()
            .flat_map(|bucket| [(bucket, 0), (bucket, 1)])
            .find(|&(bucket, place)| buckets[bucket][place].key.is_empty());
        if let Some((bucket, place)) = free {
            buckets[bucket][place] = part;
        }
    }
    buckets
}

const _: () = assert!(MAX_KEY_BYTES < 64);

#[cfg(test)]
mod tests {
    use super::*;
    use trie_format::NO_ID;

    fn key(text: &'static str, id: u32, score: f32) -> Key<'static> {
        Key {
            text: text.as_bytes(),
            id,
            score,
            score64: score.into(),
        }
    }

    fn tables_of(keys: &[Key<'static>]) -> Option<PartTables> {
        tables_with(keys, false)
    }

    fn tables_with(keys: &[Key<'static>], with_automaton: bool) -> Option<PartTables> {
        assert!(keys.is_sorted_by_key(|key| key.text));
        let vocab = Vocab {
            entries: Vec::new(),
            unk_id: 99,
            bos_id: NO_ID,
            eos_id: NO_ID,
            pad_id: NO_ID,
            mask_id: NO_ID,
            unk_score: -20.0,
            trie_keys: keys.to_vec(),
            symbol_keys: Vec::new(),
            named_ids: Vec::new(),
            byte_ids: None,
        };
        tables(&vocab, &Trie::build(keys).unwrap(), None, with_automaton)
    }

    #[test]
    fn only_clear_answers_are_baked() {
        let keys = [
            key("a", 0, -1.0),
            key("aa", 1, -2.01),   // worse than a + a
            key("ab", 2, -2.5),    // better than a + b
            key("abab", 3, -4.99), // better than ab + ab, but by too little
            key("b", 4, -2.0),
            key("\u{e9}ab", 7, -1.0),
            key("\u{2581}", 5, -3.0),
            key("\u{2581}ab", 6, -1.0),
        ];
        let tables = tables_of(&keys).unwrap();
        assert_eq!(tables.header.flags, PairsHeader::LEADING_SPACE);
        let baked = BakedParts::new(&tables.baked);
        let find = |text: &str| {
            let key = PartKey::new(text.as_bytes()).unwrap();
            baked.find(&key, key.hash()).map_or(NO_ID, |part| part.id)
        };
        let found: Vec<u32> = ["a", "ab", "b", "\u{2581}", "\u{2581}ab", "\u{e9}ab"]
            .map(find)
            .into();
        assert_eq!(found, [0, 2, 4, 5, 6, 7]);
        assert_eq!([find("aa"), find("abab"), find("ba")], [NO_ID; 3]);
    }

    #[test]
    fn with_an_automaton_words_are_baked_and_of_other_parts_the_likeliest() {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        let words = "\u{2581}a\u{2581}b\u{2581}c\u{2581}d\u{2581}e\u{2581}f\u{2581}g\u{2581}h\u{2581}i\u{2581}j\u{2581}k\u{2581}l\u{2581}m\u{2581}n";
        let mut keys: Vec<Key<'static>> = (0..26)
            .map(|at| key(&letters[at..=at], at as u32, -10.0 + at as f32 / 10.0))
            .collect();
        keys.extend((0..14).map(|at| key(&words[4 * at..4 * at + 4], 26 + at as u32, -12.0)));
        // Those that find no room are left out, but the likely ones are placed first.
        let baked = |with_automaton, word| -> Vec<u32> {
            let tables = tables_with(&keys, with_automaton).unwrap();
            let baked = tables.baked.as_flattened().iter();
            let mut ids: Vec<u32> = baked
                .filter(|part| !part.key.is_empty() && part.key.after_space() == word)
                .map(|part| part.id)
                .collect();
            ids.sort_unstable();
            ids
        };
        // One in twenty of forty pieces.
        assert_eq!(baked(true, false), [24, 25]);
        assert!(baked(false, false).len() > 15);
        assert!(baked(true, true).len() > 7);
    }

    #[test]
    fn every_pair_of_a_piece_is_joined() {
        let keys = [key("ab", 0, -1.0), key("b\u{e9}\u{2581}x", 1, -1.0)];
        let tables = tables_of(&keys).unwrap();
        assert_eq!(tables.header.flags, 0);
        let header: &[u8] = bytemuck::bytes_of(&tables.header);
        let bytes = [header, bytemuck::cast_slice(&tables.pairs)].concat();
        let words: Vec<u64> = bytes
            .chunks(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
            .collect();
        let pairs = JoinedPairs::parse(bytemuck::cast_slice(&words)).unwrap();
        let joined = |first, second| pairs.may_join(bytes_of(first), bytes_of(second));
        assert!(joined('a', 'b') && joined('b', '\u{e9}') && joined('\u{2581}', 'x'));
        assert!(joined('\u{e9}', '\u{2581}'));
        assert!(!joined('b', 'a') && !joined('a', 'a') && !joined('x', 'a'));
    }

    #[test]
    fn models_that_cannot_have_parts_have_none() {
        assert!(tables_of(&[key("a", 0, -1000.0)]).is_none());
        let bytes = Key {
            text: b"\xff",
            ..key("", 0, -1.0)
        };
        assert!(tables_of(&[bytes]).is_none());
    }
}
