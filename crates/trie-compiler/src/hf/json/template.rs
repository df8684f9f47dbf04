//! Post-processors, as templates.
//!
//! Invariant: every special id of a template is an id of the vocabulary or of an added token, the single
//! template names only sequence A, and no template is empty.

use super::node::{Node, quoted};
use crate::CompileError;
use crate::post::{PostProcessor, TemplateItem};

const A: TemplateItem = TemplateItem::Sequence {
    index: 0,
    type_id: 0,
};

/// Reads a post-processor; `id_count` ids are known.
pub(super) fn read(node: &Node<'_>, id_count: u32) -> Result<PostProcessor, CompileError> {
    let mut found = None;
    read_into(node, id_count, &mut found)?;
    Ok(found.unwrap_or_default())
}

/// The reference goes by the fields, in this order, and looks at no type but that of a sequence.
fn read_into(
    node: &Node<'_>,
    id_count: u32,
    found: &mut Option<PostProcessor>,
) -> Result<(), CompileError> {
    check_type(node)?;
    let has = |fields: &[&str]| fields.iter().all(|field| node.has(field));
    let processor = if has(&["sep", "cls"]) {
        if has(&["trim_offsets", "add_prefix_space"]) {
            roberta(node, id_count)?
        } else {
            bert(node, id_count)?
        }
    } else if has(&["single", "pair", "special_tokens"]) {
        template(node, id_count)?
    } else if has(&["processors"]) {
        for item in node.field("processors")?.items()? {
            read_into(&item, id_count, found)?;
        }
        return Ok(());
    } else {
        return node.fail("has not the fields of any post-processor that is supported");
    };
    match found.replace(processor) {
        None => Ok(()),
        Some(_) => node.fail("is a second post-processor after another: only one can be compiled"),
    }
}

fn check_type(node: &Node<'_>) -> Result<(), CompileError> {
    const KNOWN: [&str; 4] = [
        "TemplateProcessing",
        "RobertaProcessing",
        "BertProcessing",
        "Sequence",
    ];
    let Some(kind) = node.given("type")? else {
        return Ok(());
    };
    match kind.text()? {
        text if KNOWN.contains(&text) => Ok(()),
        other => kind.fail(format!("is {}, which is not supported", quoted(other))),
    }
}

fn bert(node: &Node<'_>, id_count: u32) -> Result<PostProcessor, CompileError> {
    let cls = special(named_id(&node.field("cls")?, id_count)?, 0);
    let sep = named_id(&node.field("sep")?, id_count)?;
    let b = TemplateItem::Sequence {
        index: 1,
        type_id: 1,
    };
    let single = vec![cls, A, special(sep, 0)];
    Ok(PostProcessor {
        pair: [&single[..], &[b, special(sep, 1)]].concat(),
        single,
        trim_offsets: None,
    })
}

fn roberta(node: &Node<'_>, id_count: u32) -> Result<PostProcessor, CompileError> {
    let cls = special(named_id(&node.field("cls")?, id_count)?, 0);
    let sep = special(named_id(&node.field("sep")?, id_count)?, 0);
    let trim = node.field("trim_offsets")?.flag()?;
    let prefix_space = node.field("add_prefix_space")?.flag()?;
    let b = TemplateItem::Sequence {
        index: 1,
        type_id: 0,
    };
    Ok(PostProcessor {
        single: vec![cls, A, sep],
        pair: vec![cls, A, sep, sep, b, sep],
        trim_offsets: trim.then_some(prefix_space),
    })
}

fn special(id: u32, type_id: u32) -> TemplateItem {
    TemplateItem::Special { id, type_id }
}

fn known_id(node: &Node<'_>, id_count: u32) -> Result<u32, CompileError> {
    match node.number()? {
        id if id < id_count => Ok(id),
        id => node.fail(format!("is {id}, but there are only {id_count} ids")),
    }
}

/// `["</s>", 2]`; the text is only for showing.
fn named_id(node: &Node<'_>, id_count: u32) -> Result<u32, CompileError> {
    let mut items = node.items()?;
    match (items.next(), items.next(), items.next()) {
        (Some(name), Some(id), None) => {
            name.text()?;
            known_id(&id, id_count)
        }
        _ => node.fail("must be [text, id]"),
    }
}

fn template(node: &Node<'_>, id_count: u32) -> Result<PostProcessor, CompileError> {
    let specials = node.field("special_tokens")?;
    let single_node = node.field("single")?;
    let single = items(&single_node, &specials, id_count)?;
    let names_b = |item: &TemplateItem| matches!(item, TemplateItem::Sequence { index: 1, .. });
    if single.iter().any(names_b) {
        return single_node.fail("names sequence B, but there is only A");
    }
    Ok(PostProcessor {
        single,
        pair: items(&node.field("pair")?, &specials, id_count)?,
        trim_offsets: None,
    })
}

/// A template: a list of objects or of texts, or one text with spaces between.
fn items(
    node: &Node<'_>,
    specials: &Node<'_>,
    id_count: u32,
) -> Result<Vec<TemplateItem>, CompileError> {
    let mut found = Vec::new();
    let mut add = |node: &Node<'_>, piece| add_piece(node, piece, specials, id_count, &mut found);
    if node.is_text() {
        for word in node.text()?.split(' ') {
            add(node, Piece::from_text(node, word)?)?;
        }
    } else {
        for item in node.items()? {
            let piece = if item.is_text() {
                Piece::from_text(&item, item.text()?)?
            } else {
                Piece::from_object(&item)?
            };
            add(&item, piece)?;
        }
    }
    if found.is_empty() {
        return node.fail("is empty: it would leave nothing of the text");
    }
    Ok(found)
}

fn add_piece(
    node: &Node<'_>,
    piece: Piece,
    specials: &Node<'_>,
    id_count: u32,
    found: &mut Vec<TemplateItem>,
) -> Result<(), CompileError> {
    let (name, type_id) = match piece {
        Piece::Sequence(index, type_id) => {
            found.push(TemplateItem::Sequence { index, type_id });
            return Ok(());
        }
        Piece::Special(name, type_id) => (name, type_id),
    };
    let Some(token) = specials.given(&name)? else {
        let name = quoted(&name);
        return node.fail(format!("names {name}, which is not among special_tokens"));
    };
    let (ids, texts) = (token.field("ids")?, token.field("tokens")?);
    if ids.items()?.len() != texts.items()?.len() {
        return token.fail("must have as many ids as tokens");
    }
    for id in ids.items()? {
        found.push(special(known_id(&id, id_count)?, type_id));
    }
    Ok(())
}

enum Piece {
    Sequence(u8, u32),
    Special(String, u32),
}

impl Piece {
    /// `{"Sequence": {"id": "A", "type_id": 0}}` or `{"SpecialToken": {"id": "<s>", "type_id": 0}}`.
    fn from_object(node: &Node<'_>) -> Result<Self, CompileError> {
        if let Some(sequence) = node.given("Sequence")? {
            let index = sequence.field("id")?.word(&[("A", 0), ("B", 1)])?;
            return Ok(Self::Sequence(index, sequence.field("type_id")?.number()?));
        }
        let token = node.field("SpecialToken")?;
        let name = token.field("id")?.text()?.to_owned();
        Ok(Self::Special(name, token.field("type_id")?.number()?))
    }

    /// `$A`, `$B:1`, `$1` (sequence A with type 1), `<s>`, `<s>:1`.
    fn from_text(node: &Node<'_>, word: &str) -> Result<Self, CompileError> {
        Self::parse(word)
            .ok_or_else(|| node.error(format!("has {}, which is no template item", quoted(word))))
    }

    fn parse(word: &str) -> Option<Self> {
        let (name, type_id) = match word.split_once(':') {
            Some((name, type_id)) => (name, Some(type_id.parse().ok()?)),
            None => (word, None),
        };
        let Some(sequence) = name.strip_prefix('$') else {
            return Some(Self::Special(name.to_owned(), type_id.unwrap_or(0)));
        };
        let (index, own_type) = match sequence {
            "" | "A" | "a" => (0, 0),
            "B" | "b" => (1, 0),
            number => (0, number.parse().ok()?),
        };
        Some(Self::Sequence(index, type_id.unwrap_or(own_type)))
    }
}
