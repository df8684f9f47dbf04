//! Named templates of special tokens, for models, which have none of their own.

use trie_format::{IdMap, PieceType, Template};

use crate::error::{CompileError, PieceName};
use crate::post::{Direction, Padding, PostProcessor, TemplateItem};
use crate::vocab::Entry;

/// The pieces that the model names its begin and end.
pub(crate) struct Ends<'a> {
    pub(crate) bos: &'a [u8],
    pub(crate) eos: &'a [u8],
    pub(crate) pad: &'a [u8],
}

/// A template over a model's pieces, and how texts under it are padded where that is asked for.
pub(crate) struct Named {
    pub(crate) post_processor: PostProcessor,
    pub(crate) padding: Option<Padding>,
}

/// Finds special pieces by their texts.
struct Finder<'a> {
    entries: &'a [Entry<'a>],
    template: Template,
}

impl Finder<'_> {
    fn control(&self, text: &[u8]) -> Option<u32> {
        let is_it =
            |entry: &Entry<'_>| entry.piece_type == PieceType::Control && entry.text == text;
        self.entries.iter().position(is_it).map(|id| id as u32)
    }

    /// # Errors
    /// If there is no piece with this text that could stand for something special.
    fn special(&self, text: &[u8]) -> Result<u32, CompileError> {
        let is_it = |entry: &Entry<'_>| {
            let may_be = matches!(
                entry.piece_type,
                PieceType::Control | PieceType::UserDefined
            );
            may_be && entry.text == text
        };
        match self.entries.iter().position(is_it) {
            Some(id) => Ok(id as u32),
            None => Err(CompileError::Template {
                template: self.template.name(),
                name: PieceName::new(text),
            }),
        }
    }
}

/// The template over a model's pieces.
///
/// # Errors
/// If the model lacks a piece that the template needs.
pub(crate) fn named(
    template: Template,
    ids: IdMap,
    entries: &[Entry<'_>],
    ends: &Ends<'_>,
) -> Result<Named, CompileError> {
    let finder = Finder { entries, template };
    let pad = finder
        .control(ends.pad)
        .or_else(|| finder.control(b"<pad>"));
    let right = pad.map(|pad| padding(pad, 0, Direction::Right));
    let (post_processor, padding) = match template {
        Template::None => (PostProcessor::default(), right),
        Template::XlmRoberta => {
            let [bos, eos] = [finder.special(b"<s>")?, finder.special(b"</s>")?];
            (xlm_roberta(bos, eos), right)
        }
        Template::T5 => (end_only(finder.special(b"</s>")?), right),
        Template::Bert => {
            let [cls, sep] = [finder.special(b"[CLS]")?, finder.special(b"[SEP]")?];
            let pad = finder.control(b"[PAD]").or(pad);
            (
                bert(cls, sep),
                pad.map(|pad| self::padding(pad, 0, Direction::Right)),
            )
        }
        Template::Xlnet => {
            let [sep, cls] = [finder.special(b"<sep>")?, finder.special(b"<cls>")?];
            (
                xlnet(sep, cls),
                pad.map(|pad| self::padding(pad, 3, Direction::Left)),
            )
        }
        _ => match (ids, finder.control(ends.bos), finder.control(ends.eos)) {
            (IdMap::Fairseq, Some(bos), Some(eos)) => (xlm_roberta(bos, eos), right),
            (_, bos, eos) => (ends_of(bos, eos), right),
        },
    };
    Ok(Named {
        post_processor,
        padding,
    })
}

fn padding(pad_id: u32, pad_type_id: u32, direction: Direction) -> Padding {
    Padding {
        fixed: None,
        pad_to_multiple_of: None,
        pad_id,
        pad_type_id,
        direction,
        is_suggestion: true,
    }
}

fn special(id: u32, type_id: u32) -> TemplateItem {
    TemplateItem::Special { id, type_id }
}

fn sequence(index: u8, type_id: u32) -> TemplateItem {
    TemplateItem::Sequence { index, type_id }
}

/// `<s> A </s>` and `<s> A </s> </s> B </s>`.
pub(crate) fn xlm_roberta(bos: u32, eos: u32) -> PostProcessor {
    let [bos, eos] = [bos, eos].map(|id| special(id, 0));
    let [a, b] = [0, 1].map(|index| sequence(index, 0));
    PostProcessor {
        single: vec![bos, a, eos],
        pair: vec![bos, a, eos, eos, b, eos],
        trim_offsets: None,
    }
}

/// `A </s>` and `A </s> B </s>`.
pub(crate) fn end_only(eos: u32) -> PostProcessor {
    ends_of(None, Some(eos))
}

/// What there is of `<s> A </s>` and `<s> A </s> B </s>`.
fn ends_of(bos: Option<u32>, eos: Option<u32>) -> PostProcessor {
    let [bos, eos] = [bos, eos].map(|id| id.map(|id| special(id, 0)));
    let single: Vec<TemplateItem> = bos.into_iter().chain([sequence(0, 0)]).chain(eos).collect();
    let pair = single
        .iter()
        .copied()
        .chain([sequence(1, 0)])
        .chain(eos)
        .collect();
    PostProcessor {
        single,
        pair,
        trim_offsets: None,
    }
}

/// `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, type 1 from B on.
fn bert(cls: u32, sep: u32) -> PostProcessor {
    let single = vec![special(cls, 0), sequence(0, 0), special(sep, 0)];
    PostProcessor {
        pair: [&single[..], &[sequence(1, 1), special(sep, 1)]].concat(),
        single,
        trim_offsets: None,
    }
}

/// `A <sep> <cls>` and `A <sep> B <sep> <cls>`, types 0 and 1, 2 for the last.
fn xlnet(sep: u32, cls: u32) -> PostProcessor {
    let single = [sequence(0, 0), special(sep, 0)];
    PostProcessor {
        single: [&single[..], &[special(cls, 2)]].concat(),
        pair: [
            &single[..],
            &[sequence(1, 1), special(sep, 1), special(cls, 2)],
        ]
        .concat(),
        trim_offsets: None,
    }
}
