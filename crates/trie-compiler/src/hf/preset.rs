//! What `transformers` makes of a SentencePiece model: three published forms of its converter.

use trie_format::{IdMap, PieceType, Template};

use super::pipeline::{
    AddedToken, DecoderStep, HfModel, NormalizerStep, Pattern, PreTokenizerStep, PrependScheme,
};
use crate::HuggingFacePreset;
use crate::error::{CompileError, PieceName};
use crate::model::Model;
use crate::template::{Ends, Named, named};
use crate::vocab::{Entry, model_vocab};

const SPACE_SYMBOL: char = '\u{2581}';

/// The pipeline that `preset` puts around `model`.
pub(crate) fn convert(
    model: Model,
    ids: IdMap,
    preset: HuggingFacePreset,
    template: Template,
) -> Result<HfModel, CompileError> {
    let (vocab, unk_id, added_tokens, named) = {
        let entries = model_vocab(&model, ids)?;
        (
            vocab(&entries)?,
            entries
                .iter()
                .position(|entry| entry.piece_type == PieceType::Unknown),
            added_tokens(&entries)?,
            template_of(&model, &entries, ids, template)?,
        )
    };
    let Some(unk_id) = unk_id else {
        return Err(CompileError::NoUnknown);
    };
    let prepend_scheme = match model.normalizer.flags.add_dummy_prefix {
        true => PrependScheme::Always,
        false => PrependScheme::Never,
    };
    let mut normalizers = Vec::new();
    normalizers.extend(model.normalizer.charsmap.map(NormalizerStep::Precompiled));
    let runs_of_spaces = |content: String| NormalizerStep::Replace {
        pattern: Pattern::Run {
            ranges: vec![(' ', ' ')],
            min: 2,
            max: None,
        },
        content,
    };
    let metaspace = PreTokenizerStep::Metaspace {
        replacement: SPACE_SYMBOL,
        prepend_scheme,
        split: true,
    };
    let pre_tokenizers = match preset {
        HuggingFacePreset::A => {
            normalizers.push(runs_of_spaces(" ".into()));
            vec![metaspace]
        }
        HuggingFacePreset::B => vec![PreTokenizerStep::WhitespaceSplit, metaspace],
        HuggingFacePreset::C => {
            normalizers.push(NormalizerStep::Strip {
                left: false,
                right: true,
            });
            normalizers.push(runs_of_spaces(SPACE_SYMBOL.into()));
            vec![metaspace]
        }
    };
    Ok(HfModel {
        vocab,
        unk_id: Some(unk_id as u32),
        byte_fallback: model.byte_fallback,
        added_tokens,
        normalizers,
        pre_tokenizers,
        decoders: decoders(model.byte_fallback, prepend_scheme),
        post_processor: named.post_processor,
        truncation: None,
        padding: named.padding,
    })
}

fn vocab(entries: &[Entry<'_>]) -> Result<Vec<(String, f64)>, CompileError> {
    let text = |(index, entry): (usize, &Entry<'_>)| match std::str::from_utf8(entry.text) {
        Ok(text) => Ok((text.to_owned(), f64::from(entry.score))),
        Err(_) => Err(CompileError::NotUtf8 {
            index,
            name: PieceName::new(entry.text),
        }),
    };
    entries.iter().enumerate().map(text).collect()
}

/// Control pieces and user-defined symbols, and the unknown piece.
fn added_tokens(entries: &[Entry<'_>]) -> Result<Vec<AddedToken>, CompileError> {
    let mut tokens = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let special = match entry.piece_type {
            PieceType::Control | PieceType::Unknown => true,
            PieceType::UserDefined => false,
            _ => continue,
        };
        let Ok(content) = std::str::from_utf8(entry.text) else {
            return Err(CompileError::NotUtf8 {
                index,
                name: PieceName::new(entry.text),
            });
        };
        tokens.push(AddedToken {
            id: index as u32,
            content: content.to_owned(),
            single_word: false,
            lstrip: content == "<mask>",
            rstrip: false,
            normalized: false,
            special,
        });
    }
    Ok(tokens)
}

fn decoders(byte_fallback: bool, prepend_scheme: PrependScheme) -> Vec<DecoderStep> {
    let metaspace = DecoderStep::Metaspace {
        replacement: SPACE_SYMBOL,
        prepend_scheme,
    };
    match byte_fallback {
        false => vec![metaspace],
        true => vec![DecoderStep::ByteFallback, metaspace],
    }
}

/// A named template; without one the fairseq ids' own, or else `A </s>`, as T5 has it, if there is an end
/// piece.
fn template_of(
    model: &Model,
    entries: &[Entry<'_>],
    ids: IdMap,
    template: Template,
) -> Result<Named, CompileError> {
    // The converter puts no begin piece before a text of a model whose ids are its own.
    let bos: &[u8] = match (template, ids) {
        (Template::Suggested, IdMap::SentencePiece) => b"",
        _ => &model.bos_piece,
    };
    let ends = Ends {
        bos,
        eos: &model.eos_piece,
        pad: &model.pad_piece,
    };
    named(template, ids, entries, &ends)
}
