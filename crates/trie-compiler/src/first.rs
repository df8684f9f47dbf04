//! Where a walk through the pieces' trie is behind each first character.
//!
//! Invariant: a walk that goes on from there finds what one from the root finds behind the character.

use trie_format::trie::Edge;
use trie_format::{FIRST_INDEX_LEN, First, NO_ID, TrieView};

/// The first-chars section of a trie of texts that are UTF-8.
pub(crate) fn first_chars(trie: TrieView<'_>) -> Vec<u8> {
    let first = |character: char| {
        let mut buffer = [0; 4];
        place(trie, character.encode_utf8(&mut buffer).as_bytes())
    };
    let mut index = [0u16; FIRST_INDEX_LEN];
    // Most blocks have no character that a piece begins with.
    let mut blocks = vec![[First::Nothing.number(); 64]];
    for (block, number) in (0u32..).zip(&mut index) {
        let of = |bits: u32| char::from_u32(block * 64 + bits).map_or(First::Nothing, first);
        let firsts: [u32; 64] = std::array::from_fn(|bits| of(bits as u32).number());
        if firsts != blocks[0] {
            *number = blocks.len() as u16;
            blocks.push(firsts);
        }
    }
    let index: &[u8] = bytemuck::cast_slice(&index);
    [index, bytemuck::cast_slice(&blocks)].concat()
}

/// Where the walk is behind `character`.
fn place(trie: TrieView<'_>, character: &[u8]) -> First {
    let mut rest = character;
    let mut place = 0;
    while let Some((&byte, after)) = rest.split_first() {
        let edge = match trie.nodes().get(place) {
            Some(node) => trie.edge(node, byte),
            None => None,
        };
        rest = after;
        match edge {
            None => return First::Nothing,
            Some(Edge::Leaf(id)) if rest.is_empty() => return First::Leaf(id),
            Some(Edge::Leaf(_)) => return First::Nothing,
            Some(Edge::Tail(place)) if rest.is_empty() => return First::Tail(place as u32),
            Some(Edge::Tail(_)) => return First::Walk,
            Some(Edge::Node {
                slot,
                node,
                skip,
                id_first,
            }) => {
                if rest.is_empty() {
                    // A node is where its label is, before what it skips.
                    return match id_first || node.id == NO_ID {
                        true => First::Node(slot),
                        false => First::Walk,
                    };
                }
                match rest.strip_prefix(skip) {
                    Some([]) => return First::Walk,
                    Some(after) => (rest, place) = (after, slot),
                    None if skip.starts_with(rest) => return First::Walk,
                    None => return First::Nothing,
                }
            }
        }
    }
    First::Walk
}

#[cfg(test)]
mod tests {
    use trie_format::FirstChars;

    use super::*;
    use crate::trie::{Key, Trie};

    #[test]
    fn walks_go_on_behind_the_first_character() {
        let texts = [
            "a",
            "ab",
            "abcdef",
            "b",
            "\u{e01}",
            "\u{e01}\u{e02}",
            "\u{e03}",
            "\u{e04}\u{e05}\u{e06}",
            "\u{4e00}x",
            "\u{4e00}y",
            "\u{4e01}",
        ];
        let keys: Vec<Key<'_>> = (0..)
            .zip(texts)
            .map(|(id, text)| Key {
                text: text.as_bytes(),
                id,
                score: 0.0,
                score64: 0.0,
            })
            .collect();
        let trie = Trie::build(&keys).unwrap();
        let trie = trie.view();
        let mut nodes = 0;
        for character in ('\0'..='\u{ffff}').filter(|&c| c != '\0') {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            let id = texts.iter().position(|text| text.as_bytes() == bytes);
            let is_first = texts.iter().any(|text| text.as_bytes().starts_with(bytes));
            match place(trie, bytes) {
                First::Nothing => assert!(!is_first, "{character}"),
                First::Leaf(found) => assert_eq!(Some(found as usize), id),
                First::Node(slot) => {
                    nodes += 1;
                    let found = trie.nodes()[slot].id;
                    assert_eq!((found != NO_ID).then_some(found as usize), id);
                }
                First::Tail(_) | First::Walk => assert!(is_first, "{character}"),
            }
        }
        assert!(nodes > 0);
        let section: Vec<u32> = first_chars(trie)
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let chars = FirstChars::parse(bytemuck::cast_slice(&section)).unwrap();
        for character in '\0'..='\u{ffff}' {
            let mut buffer = [0; 4];
            let expected = place(trie, character.encode_utf8(&mut buffer).as_bytes());
            let code = u32::from(character);
            assert_eq!(chars.get(code as usize / 64, code), expected);
        }
    }
}
