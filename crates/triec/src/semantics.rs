//! What an image should be beyond being safe to use: its parts agree with each other.
//!
//! A check returns the line to print if it passes, else what is wrong. The image is valid, so indexes
//! are in bounds, but a crafted one may still have cycles and shared nodes.

use trie_format::pipeline::StepKind;
use trie_format::trie::{End, StepKind as TailKind, TrieView};
use trie_format::{First, IdMap, NO_ID, PieceType, Reference, ValidImage};
use trie_runtime::Tokenizer;

use crate::tree::{Tree, tree};

/// What a check finds out.
pub(crate) type Finding = Result<String, String>;

pub(crate) type Check = fn(&ValidImage<'_>, &Tokenizer) -> Finding;

pub(crate) fn shown(text: Option<&[u8]>) -> String {
    let text = String::from_utf8_lossy(text.unwrap_or_default());
    format!("{:?}", text.chars().take(40).collect::<String>())
}

/// Whether a piece is a key of the trie.
fn is_segmenting(piece_type: Option<PieceType>) -> bool {
    matches!(piece_type, Some(PieceType::Normal | PieceType::UserDefined))
}

/// Every score that `tree` has beside an id is that piece's path score.
pub(crate) fn same_scores(image: &ValidImage<'_>, tree: &Tree) -> Result<(), String> {
    for &(id, score) in &tree.keys {
        let path_score = image.path_scores().get(id as usize);
        let expected = path_score.map(|&score| score as f32);
        let expected = expected.or(image.pieces().score(id));
        if score.is_some() && score != expected {
            let name = shown(image.pieces().text(id));
            return Err(format!("piece {id} {name} has another score in the trie"));
        }
    }
    Ok(())
}

/// The trie is a tree of as many nodes as the metadata says, and every leaf ends a piece.
pub(crate) fn trie(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let tree = tree(image.nodes(), "trie")?;
    same_scores(image, &tree)?;
    let (reached, keys) = (tree.nodes, tree.keys.len() as u64);
    let stated = image.metadata().node_count.to_native();
    if reached != u64::from(stated) {
        return Err(format!(
            "the trie has {reached} nodes, the metadata says {stated}"
        ));
    }
    let pieces = image.pieces();
    let segmenting = (0..pieces.len()).filter(|&id| is_segmenting(pieces.piece_type(id)));
    let expected = segmenting.count() as u64;
    if keys != expected {
        return Err(format!(
            "the trie holds {keys} pieces, the piece table {expected}"
        ));
    }
    Ok(format!("trie: {reached} nodes, {keys} pieces"))
}

/// Every piece that takes part in segmentation is in the trie, with its id and score; every
/// user-defined symbol is in the normalizer's trie.
pub(crate) fn pieces(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let pieces = image.pieces();
    let mut longest = 0;
    let mut found = 0u64;
    for id in 0..pieces.len() {
        let (text, piece_type) = (pieces.text(id), pieces.piece_type(id));
        if !is_segmenting(piece_type) {
            continue;
        }
        let text = text.unwrap_or_default();
        let wrong = |what: &str| Err(format!("piece {id} {} {what}", shown(Some(text))));
        if image.nodes().find(text) != Some(id) {
            return wrong("is not in the trie with its id");
        }
        let path_score = image.path_scores().get(id as usize).copied();
        let same = path_score.is_none_or(|score| pieces.score(id) == Some(score as f32));
        if piece_type == Some(PieceType::Normal) && !same {
            return wrong("has another path score");
        }
        if piece_type == Some(PieceType::UserDefined) {
            let symbol = image.symbol_nodes().and_then(|trie| trie.find(text));
            if symbol != Some(id) {
                return wrong("is not among the user-defined symbols");
            }
        }
        longest = longest.max(text.len());
        found += 1;
    }
    let stated = image.metadata().max_piece_bytes.to_native();
    if longest != stated as usize {
        return Err(format!(
            "the longest piece has {longest} bytes, the metadata says {stated}"
        ));
    }
    Ok(format!(
        "pieces: {found} found by a walk, the longest of {longest} bytes"
    ))
}

/// Every piece's text looks up to its id, or to the reserved piece of the same text that hides it.
pub(crate) fn look_ups(image: &ValidImage<'_>, tokenizer: &Tokenizer) -> Finding {
    let pieces = image.pieces();
    for id in 0..pieces.len() {
        let text = pieces.text(id).unwrap_or_default();
        let piece_type = pieces.piece_type(id);
        // Third-party converters add this piece by mistake; the reference has no look-up for it.
        if text == b"\0" && piece_type == Some(PieceType::Unused) {
            continue;
        }
        let found = tokenizer.piece_to_id(text);
        let is_hidden = |by: u32| {
            let reserved = |t: Option<PieceType>| t.is_some_and(PieceType::is_reserved);
            reserved(pieces.piece_type(by))
                && !reserved(piece_type)
                && pieces.text(by) == Some(text)
        };
        if found != Some(id) && !found.is_some_and(is_hidden) {
            let found = found.map_or("nothing".into(), |found| format!("id {found}"));
            return Err(format!(
                "piece {id} {} looks up to {found}",
                shown(Some(text))
            ));
        }
    }
    Ok(format!(
        "look-ups: {} texts lead to their ids",
        pieces.len()
    ))
}

/// The special ids are pieces of the right types, at the places that the id numbering gives them.
pub(crate) fn special_ids(image: &ValidImage<'_>, tokenizer: &Tokenizer) -> Finding {
    let special = tokenizer.special_ids();
    let named = [
        ("unk", special.unk, PieceType::Unknown),
        ("bos", special.bos, PieceType::Control),
        ("eos", special.eos, PieceType::Control),
        ("pad", special.pad, PieceType::Control),
        ("mask", special.mask, PieceType::Control),
    ];
    let is_hugging_face = Reference::from(image.metadata().reference) == Reference::HuggingFace023;
    let mut present = Vec::new();
    for (name, id, wanted) in named {
        let Some(id) = id else { continue };
        let found = tokenizer.piece_type(id);
        // There, types say what decoding does, which need not go by these names.
        let fits = is_hugging_face || found == Some(wanted);
        if !fits {
            return Err(format!(
                "the {name} id {id} is not a {} piece",
                wanted.name()
            ));
        }
        present.push(format!("{name} {id} {}", shown(tokenizer.piece(id))));
    }
    if let Some(ids) = image.byte_ids() {
        let mut count = 0;
        for (byte, &id) in ids.iter().enumerate() {
            if is_hugging_face && id == NO_ID {
                continue;
            }
            count += 1;
            let is_named = tokenizer.piece(id) == Some(format!("<0x{byte:02X}>").as_bytes());
            let is_byte = tokenizer.piece_type(id) == Some(PieceType::Byte);
            // There, a special added token can stand for a byte too.
            if !is_named || !(is_byte || is_hugging_face) {
                return Err(format!(
                    "byte 0x{byte:02X} has the id {id}, which is not its piece"
                ));
            }
        }
        present.push(format!("{count} bytes"));
    }
    if IdMap::from(image.metadata().id_map) == IdMap::Fairseq {
        let last = tokenizer.piece_count().saturating_sub(1);
        for (id, text) in [
            (0, "<s>"),
            (1, "<pad>"),
            (2, "</s>"),
            (3, "<unk>"),
            (last, "<mask>"),
        ] {
            if tokenizer.piece(id) != Some(text.as_bytes()) {
                return Err(format!("in fairseq's numbering id {id} must be {text}"));
            }
        }
    }
    Ok(format!("special ids: {}", present.join(", ")))
}

/// No rule is, and no symbol begins with, a character that is said to stay as it is.
pub(crate) fn plain_chars(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let Some(chars) = image.plain_chars() else {
        return Ok("plain characters: none stated".into());
    };
    let mut count = 0;
    for code in 0..=u16::MAX {
        if !chars.is_plain(code) {
            continue;
        }
        count += 1;
        let wrong = |what: &str| Err(format!("U+{code:04X} is said to be plain, but {what}"));
        if chars.is_follower(code) {
            return wrong("is a follower, too");
        }
        let Some(character) = char::from_u32(code.into()) else {
            return wrong("is no character");
        };
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        let meets = |trie: TrieView<'_>| {
            let mut found = false;
            trie.walk(bytes, |_, _| found = true) != End::Off || found
        };
        if image.symbol_nodes().is_some_and(meets) {
            return wrong("a user-defined symbol begins with it");
        }
        if image
            .charsmap()
            .is_some_and(|map| map.longest_match(bytes).is_some())
        {
            return wrong("there is a rule for it");
        }
    }
    Ok(format!("plain characters: {count} without a rule"))
}

/// What is said of first characters is what a walk from the root finds.
pub(crate) fn first_chars(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let Some(chars) = image.first_chars() else {
        return Ok("first characters: none stated".into());
    };
    let trie = image.nodes();
    let mut count = 0;
    for character in '\0'..='\u{ffff}' {
        let code = character as u32;
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        let mut ids = Vec::new();
        let end = trie.walk(bytes, |len, id| ids.push((len, id)));
        let here = |id| ids == [(bytes.len(), id)];
        let is_right = match chars.get((code / 64) as usize, code % 64) {
            First::Walk => continue,
            First::Nothing => ids.is_empty() && end == End::Off,
            First::Leaf(id) => here(id) && end == End::Leaf,
            First::Node(slot) => trie.nodes().get(slot).is_some_and(|node| {
                let is_piece = node.id != NO_ID;
                end == End::Inside && here(node.id) == is_piece && ids.is_empty() != is_piece
            }),
            First::Tail(place) => trie.step(place as usize).is_some_and(|step| {
                let is_piece = step.labels.is_empty() && step.kind == TailKind::Piece;
                here(step.target) == is_piece && ids.is_empty() != is_piece && end == End::Inside
            }),
        };
        if !is_right {
            return Err(format!(
                "U+{code:04X} is said to lead elsewhere than a walk does"
            ));
        }
        count += 1;
    }
    Ok(format!("first characters: {count} lead where a walk does"))
}

/// The post-processor's steps have known flags, at most one of each kind where one is all that counts, and no
/// more operands than they use.
pub(crate) fn post_processor(image: &ValidImage<'_>, _: &Tokenizer) -> Finding {
    let steps = image.post_processor();
    for (index, step) in steps.iter().enumerate() {
        let wrong = |what: &str| Err(format!("post-processor step {index} {what}"));
        let (is_single, most) = match StepKind::from_number(step.kind) {
            Some(StepKind::TrimOffsets) => (true, 1),
            Some(StepKind::Truncation) if step.flags & 3 < 3 => (true, 6),
            Some(StepKind::Padding) => (true, 3),
            _ => (false, 0),
        };
        if step.flags > most {
            return wrong("has unknown flags");
        }
        let is_repeated = steps[..index].iter().any(|other| other.kind == step.kind);
        if is_single && is_repeated {
            return wrong("is a second one of its kind");
        }
    }
    Ok(format!("post-processor: {} steps", steps.len()))
}
