//! Truncation and padding.
//!
//! Invariant: what is accepted here the reference carries out without stopping, for a single sequence.

use super::node::Node;
use crate::CompileError;
use crate::post::{
    Direction, Padding, PostProcessor, TemplateItem, Truncation, TruncationStrategy,
};

const DIRECTIONS: [(&str, Direction); 2] = [("Left", Direction::Left), ("Right", Direction::Right)];

const STRATEGIES: [(&str, TruncationStrategy); 3] = [
    ("LongestFirst", TruncationStrategy::LongestFirst),
    ("OnlyFirst", TruncationStrategy::OnlyFirst),
    ("OnlySecond", TruncationStrategy::OnlySecond),
];

pub(super) fn truncation(
    node: &Node<'_>,
    post_processor: &PostProcessor,
) -> Result<Truncation, CompileError> {
    let direction = match node.given("direction")? {
        Some(direction) => direction.word(&DIRECTIONS)?,
        None => Direction::Right,
    };
    let length = node.field("max_length")?;
    // No text has more tokens than that, so a greater limit is the same.
    let max_length = u32::try_from(length.whole()?).unwrap_or(u32::MAX);
    let stride_node = node.field("stride")?;
    let stride = stride_node.number()?;
    let strategy = node.field("strategy")?.word(&STRATEGIES)?;

    let specials = specials(&post_processor.single).max(specials(&post_processor.pair));
    let Some(room) = max_length.checked_sub(specials) else {
        return length.fail(format!(
            "is {max_length}, but the post-processor adds {specials} special tokens"
        ));
    };
    if stride > 0 && stride >= room {
        return stride_node.fail(format!(
            "is {stride}, but must be less than max_length without special tokens, {room}"
        ));
    }
    Ok(Truncation {
        max_length,
        stride,
        strategy,
        direction,
    })
}

fn specials(template: &[TemplateItem]) -> u32 {
    let count = template
        .iter()
        .filter(|item| matches!(item, TemplateItem::Special { .. }))
        .count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(super) fn padding(node: &Node<'_>) -> Result<Padding, CompileError> {
    let strategy = node.field("strategy")?;
    let fixed = if strategy.is_text() {
        strategy.word(&[("BatchLongest", ())])?;
        None
    } else {
        Some(strategy.field("Fixed")?.number()?)
    };
    // Only for showing tokens: the id is what is put in.
    node.field("pad_token")?.text()?;
    Ok(Padding {
        fixed,
        pad_to_multiple_of: node
            .optional("pad_to_multiple_of")?
            .map(|multiple| multiple.number())
            .transpose()?
            .filter(|&multiple| multiple > 0),
        pad_id: node.field("pad_id")?.number()?,
        pad_type_id: node.field("pad_type_id")?.number()?,
        direction: node.field("direction")?.word(&DIRECTIONS)?,
        is_suggestion: false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const TWO: [TemplateItem; 2] = [TemplateItem::Special { id: 0, type_id: 0 }; 2];

    fn read_truncation(value: &Value) -> Result<Truncation, String> {
        let post_processor = PostProcessor {
            single: TWO.to_vec(),
            ..PostProcessor::default()
        };
        truncation(&Node::root("truncation", value), &post_processor).map_err(|e| e.to_string())
    }

    #[test]
    fn truncation_has_a_default_direction() {
        let value = json!({"max_length": 512, "strategy": "LongestFirst", "stride": 0});
        assert_eq!(
            read_truncation(&value),
            Ok(Truncation {
                max_length: 512,
                stride: 0,
                strategy: TruncationStrategy::LongestFirst,
                direction: Direction::Right,
            })
        );
        let value = json!({"direction": "Left", "max_length": u64::MAX, "strategy": "OnlySecond", "stride": 3});
        assert_eq!(
            read_truncation(&value),
            Ok(Truncation {
                max_length: u32::MAX,
                stride: 3,
                strategy: TruncationStrategy::OnlySecond,
                direction: Direction::Left,
            })
        );
    }

    #[test]
    fn impossible_truncation_is_refused() {
        let with = |max_length, stride| {
            let value =
                json!({"max_length": max_length, "strategy": "OnlyFirst", "stride": stride});
            read_truncation(&value).map_err(|error| error.to_string())
        };
        assert!(with(2, 0).is_ok());
        assert_eq!(
            with(1, 0).unwrap_err(),
            "tokenizer.json: truncation.max_length is 1, but the post-processor adds 2 special tokens"
        );
        assert_eq!(
            with(10, 8).unwrap_err(),
            "tokenizer.json: truncation.stride is 8, but must be less than max_length without special tokens, 8"
        );
        let value = json!({"max_length": 5, "strategy": "longest_first", "stride": 0});
        assert_eq!(
            read_truncation(&value).unwrap_err(),
            "tokenizer.json: truncation.strategy is \"longest_first\", but must be one of LongestFirst, OnlyFirst, OnlySecond"
        );
    }

    #[test]
    fn both_padding_strategies() {
        let mut value = json!({
            "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 1, "pad_type_id": 0, "pad_token": "<pad>"
        });
        let expected = Padding {
            fixed: None,
            pad_to_multiple_of: None,
            pad_id: 1,
            pad_type_id: 0,
            direction: Direction::Right,
            is_suggestion: false,
        };
        let read = |value: &Value| {
            padding(&Node::root("padding", value)).map_err(|error| error.to_string())
        };
        assert_eq!(read(&value), Ok(expected));
        value["pad_to_multiple_of"] = json!(0);
        assert_eq!(read(&value), Ok(expected));
        value["strategy"] = json!({"Fixed": 128});
        value["pad_to_multiple_of"] = json!(8);
        let fixed = read(&value).unwrap();
        assert_eq!(
            (fixed.fixed, fixed.pad_to_multiple_of),
            (Some(128), Some(8))
        );
        value["pad_id"] = json!(-1);
        assert_eq!(
            read(&value).unwrap_err(),
            "tokenizer.json: padding.pad_id is -1, but must be a whole number, not negative"
        );
    }
}
