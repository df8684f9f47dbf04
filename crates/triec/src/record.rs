//! One text's output line: ids or pieces as words, or an object with the wanted fields.

use trie_runtime::{EncodeOptions, Encoding, OffsetUnit, Scratch, Setting, Tokenizer};

use crate::jsonl;
use crate::serving::Field;

/// What is printed of a text.
#[derive(Debug, Clone)]
pub(crate) enum Layout {
    /// Ids, separated by spaces.
    Ids,
    /// Pieces, separated by spaces.
    Pieces,
    /// How many ids; as an object.
    Count(bool),
    /// An object with these keys.
    Object(Vec<Field>),
}

impl Layout {
    /// `options` with what the layout needs recorded.
    pub(crate) fn record(&self, options: EncodeOptions) -> EncodeOptions {
        let has = |field: Field| match self {
            Self::Ids => field == Field::Ids,
            Self::Pieces => field == Field::Pieces,
            Self::Count(_) => false,
            Self::Object(fields) => fields.contains(&field),
        };
        let masks = [
            Field::TypeIds,
            Field::AttentionMask,
            Field::SpecialTokensMask,
        ];
        let options = options
            .with_pieces(has(Field::Pieces))
            .with_masks(masks.into_iter().any(has))
            .with_overflowing(has(Field::Overflowing));
        match self.units().first() {
            Some(&unit) => options.with_offsets(unit),
            None => options,
        }
    }

    /// The units of the wanted offsets.
    fn units(&self) -> Vec<OffsetUnit> {
        match self {
            Self::Object(fields) => fields.iter().filter_map(|field| field.unit()).collect(),
            _ => Vec::new(),
        }
    }
}

/// How texts are encoded and printed.
pub(crate) struct Job<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    /// With what the layout needs recorded.
    pub(crate) options: EncodeOptions,
    pub(crate) layout: Layout,
    /// Nothing but the text's own ids is wanted.
    pub(crate) is_plain: bool,
}

/// A text, or two.
pub(crate) type TextPair<'t> = (&'t [u8], Option<&'t [u8]>);

impl Job<'_> {
    fn encode<'s>(
        &'s self,
        (first, second): TextPair<'_>,
        options: &EncodeOptions,
        scratch: &'s mut Scratch,
    ) -> Result<Encoding<'s>, String> {
        match second {
            Some(second) => self.tokenizer.encode_pair(first, second, options, scratch),
            None => self.tokenizer.encode_with(first, options, scratch),
        }
        .map_err(|error| error.to_string())
    }

    /// How many ids the text has without padding.
    pub(crate) fn len(&self, text: TextPair<'_>, scratch: &mut Scratch) -> Result<usize, String> {
        let mut options = self
            .options
            .with_pieces(false)
            .with_masks(false)
            .with_overflowing(false)
            .with_padding(Setting::Off);
        options.offsets = None;
        Ok(self.encode(text, &options, scratch)?.len())
    }

    /// Appends the text's line, without LF, encoded with `options`, which are the job's but for padding.
    pub(crate) fn push(
        &self,
        text: TextPair<'_>,
        options: &EncodeOptions,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match &self.layout {
            Layout::Ids if self.is_plain => {
                push_list(self.tokenizer.encode(text.0, scratch), b' ', out);
                Ok(())
            }
            Layout::Ids => {
                push_list(self.encode(text, options, scratch)?.ids(), b' ', out);
                Ok(())
            }
            Layout::Pieces => {
                for (index, piece) in self.encode(text, options, scratch)?.pieces().enumerate() {
                    if index != 0 {
                        out.push(b' ');
                    }
                    out.extend_from_slice(piece);
                }
                Ok(())
            }
            Layout::Count(is_json) => {
                let count = match self.is_plain {
                    true => self.tokenizer.count_tokens(text.0, scratch),
                    false => self.encode(text, options, scratch)?.len(),
                };
                let (open, close) = match is_json {
                    true => (&b"{\"count\":"[..], &b"}"[..]),
                    false => (&b""[..], &b""[..]),
                };
                out.extend_from_slice(open);
                push_decimal(count as u64, out);
                out.extend_from_slice(close);
                Ok(())
            }
            Layout::Object(fields) => self.push_object(fields, text, options, scratch, out),
        }
    }

    fn push_object(
        &self,
        fields: &[Field],
        text: TextPair<'_>,
        options: &EncodeOptions,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let units = self.layout.units();
        // An encode has offsets in one unit; for further ones it is done again.
        let mut further = Vec::new();
        for &unit in units.iter().skip(1) {
            let options = options.with_offsets(unit);
            let encoding = self.encode(text, &options, scratch)?;
            let windows = std::iter::once(encoding).chain(encoding.overflowing());
            let offsets: Vec<Vec<(usize, usize)>> =
                windows.map(|window| window.offsets().to_vec()).collect();
            further.push((unit, offsets));
        }
        let encoding = self.encode(text, options, scratch)?;
        let window = |index: usize, encoding: &Encoding<'_>, out: &mut Vec<u8>| {
            push_window(fields, encoding, out, |unit| {
                further
                    .iter()
                    .find(|(further, _)| *further == unit)
                    .and_then(|(_, windows)| windows.get(index))
                    .map(Vec::as_slice)
            })
        };
        window(0, &encoding, out)?;
        if fields.contains(&Field::Overflowing) {
            // The closing brace makes place for one more key.
            out.pop();
            if fields.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(b"\"overflowing\":[");
            for (index, overflowing) in encoding.overflowing().enumerate() {
                if index != 0 {
                    out.push(b',');
                }
                window(index + 1, &overflowing, out)?;
            }
            out.extend_from_slice(b"]}");
        }
        Ok(())
    }
}

/// Appends an object with all of `fields` but overflowing windows. Offsets that `further` knows are of a unit
/// that the encoding does not have.
fn push_window<'o>(
    fields: &[Field],
    encoding: &Encoding<'_>,
    out: &mut Vec<u8>,
    further: impl Fn(OffsetUnit) -> Option<&'o [(usize, usize)]>,
) -> Result<(), String> {
    out.push(b'{');
    let mut is_first = true;
    for &field in fields.iter().filter(|field| **field != Field::Overflowing) {
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        out.push(b'"');
        out.extend_from_slice(field.key().as_bytes());
        out.extend_from_slice(b"\":[");
        match field {
            Field::Ids => push_list(encoding.ids(), b',', out),
            Field::TypeIds => push_list(encoding.type_ids(), b',', out),
            Field::AttentionMask => push_list(encoding.attention_mask(), b',', out),
            Field::SpecialTokensMask => push_list(encoding.special_tokens_mask(), b',', out),
            Field::Pieces => {
                for (index, piece) in encoding.pieces().enumerate() {
                    if index != 0 {
                        out.push(b',');
                    }
                    jsonl::push_piece(piece, out)?;
                }
            }
            _ => {
                let offsets = field.unit().and_then(&further);
                push_offsets(offsets.unwrap_or(encoding.offsets()), out);
            }
        }
        out.push(b']');
    }
    out.push(b'}');
    Ok(())
}

fn push_offsets(offsets: &[(usize, usize)], out: &mut Vec<u8>) {
    for (index, &(start, end)) in offsets.iter().enumerate() {
        if index != 0 {
            out.push(b',');
        }
        out.push(b'[');
        push_decimal(start as u64, out);
        out.push(b',');
        push_decimal(end as u64, out);
        out.push(b']');
    }
}

/// Appends `numbers`, separated.
pub(crate) fn push_list(numbers: &[u32], separator: u8, out: &mut Vec<u8>) {
    for (index, &number) in numbers.iter().enumerate() {
        if index != 0 {
            out.push(separator);
        }
        push_decimal(number.into(), out);
    }
}

/// Appends `number` in decimal. The formatting machinery of `write!` would take longer than encoding.
pub(crate) fn push_decimal(mut number: u64, out: &mut Vec<u8>) {
    let from = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(from..) {
        digits.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_of_the_standard_library() {
        for number in [0, 7, 10, 250_001, 1_000_000_000, u64::MAX] {
            let mut out = b"x".to_vec();
            push_decimal(number, &mut out);
            assert_eq!(out, format!("x{number}").into_bytes());
        }
    }
}
