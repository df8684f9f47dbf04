//! Added tokens, with the ids that the reference really gives them.
//!
//! Invariant: ids are either those of the vocabulary entry with the same text (the last one), or follow
//! the vocabulary without gaps; contents are neither empty nor repeated.

use std::collections::HashMap;

use trie_format::MAX_PIECE_BYTES;

use super::node::{Node, quoted};
use crate::CompileError;
use crate::hf::pipeline::AddedToken;

#[derive(Debug)]
pub(super) struct Added {
    /// In the file's order.
    pub(super) tokens: Vec<AddedToken>,
    /// How many ids there are, those of the vocabulary included.
    pub(super) id_count: u32,
}

/// Reads `added_tokens`.
///
/// The `id` in the file counts for nothing: the reference only warns when it gives another one.
pub(super) fn read(
    node: Option<&Node<'_>>,
    vocab: &[(String, f64)],
) -> Result<Added, CompileError> {
    let mut tokens = Vec::new();
    if let Some(node) = node {
        for item in node.items()? {
            tokens.push(read_token(&item)?);
        }
        refuse_conflicts(node, &tokens)?;
    }
    assign(tokens, vocab)
}

fn read_token(node: &Node<'_>) -> Result<AddedToken, CompileError> {
    let content = node.field("content")?;
    let text = content.text()?;
    if text.len() > MAX_PIECE_BYTES as usize {
        let len = text.len();
        return content.fail(format!(
            "is {len} bytes long: tokens must be shorter than 8,000 bytes"
        ));
    }
    Ok(AddedToken {
        id: node.field("id")?.number()?,
        content: text.to_owned(),
        single_word: node.field("single_word")?.flag()?,
        lstrip: node.field("lstrip")?.flag()?,
        rstrip: node.field("rstrip")?.flag()?,
        normalized: node.field("normalized")?.flag()?,
        special: node.field("special")?.flag()?,
    })
}

/// Of two different tokens with the same content, the reference would keep some properties of each.
fn refuse_conflicts(node: &Node<'_>, tokens: &[AddedToken]) -> Result<(), CompileError> {
    let mut seen: HashMap<&str, (usize, &AddedToken)> = HashMap::new();
    for ((index, token), item) in tokens.iter().enumerate().zip(node.items()?) {
        let &mut (first, known) = seen.entry(&token.content).or_insert((index, token));
        let same = AddedToken {
            id: token.id,
            ..known.clone()
        };
        if same != *token {
            let name = quoted(&token.content);
            return item.fail(format!(
                "defines {name} otherwise than added_tokens[{first}]: remove one of them"
            ));
        }
    }
    Ok(())
}

fn assign(tokens: Vec<AddedToken>, vocab: &[(String, f64)]) -> Result<Added, CompileError> {
    let mut ids: HashMap<String, Option<u32>> = tokens
        .iter()
        .map(|token| (token.content.clone(), None))
        .collect();
    let too_large = || CompileError::TooLarge {
        what: "the number of ids",
        limit: u64::from(u32::MAX) - 1,
    };
    let most = vocab.len().saturating_add(ids.len());
    u32::try_from(most)
        .ok()
        .filter(|&count| count < u32::MAX)
        .ok_or_else(too_large)?;
    for (id, (text, _)) in vocab.iter().enumerate() {
        if let Some(known) = ids.get_mut(text) {
            *known = Some(id as u32);
        }
    }
    let mut added = Added {
        tokens: Vec::new(),
        id_count: vocab.len() as u32,
    };
    for token in tokens {
        // The reference passes over empty tokens; a repeated one is taken out with its first.
        let Some(known) = ids
            .remove(&token.content)
            .filter(|_| !token.content.is_empty())
        else {
            continue;
        };
        let id = known.unwrap_or_else(|| {
            added.id_count += 1;
            added.id_count - 1
        });
        added.tokens.push(AddedToken { id, ..token });
    }
    Ok(added)
}
