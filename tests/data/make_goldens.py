"""Make the goldens of this folder by running two releases of sentencepiece.

`encode.jsonl`, `offsets.jsonl` and `ties.jsonl` have rows that come from public
reports or from a search for ties.  Their inputs, notes and Hugging Face columns are kept; the
sentencepiece columns are made anew wherever the model is at hand.  Everything
else is made from `hard_inputs.py`.

Usage: make_goldens.py --new PYTHON --old PYTHON [--only NAME ...]

where PYTHON are interpreters with sentencepiece 0.2.3 and 0.2.1 (and protobuf).
"""

import argparse
import base64
import json
import pathlib
import sys

import hard_inputs
from oracle import Oracle

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE / "models"
XLM_ROBERTA = "xlm-roberta"
XLM_ROBERTA_PATH = HERE.parent.parent / "models" / "xlm-roberta.model"

NEW, OLD = "0.2.3", "0.2.1"
TRAINED = (
    "trained nmt_nfkc_cf nfkc_cf bytefb bytefb_identity uds ctrl suffix nodummy keepws nosplitws "
    "identity identity_keepws denorm"
).split()
BROKEN_TEXT_MODELS = [XLM_ROBERTA, "bytefb", "bytefb_identity", "keepws", "trained", "h_bytes", "badutf8_piece"]
DECODE_MODELS = (
    "trained bytefb bytefb_identity uds ctrl suffix nodummy keepws nosplitws denorm "
    "h_bytes h_escfalse h_innerspace h_unkpos badutf8_piece nul_bf defaults"
).split()
REPORTED_PREFIX = "c"


def model_path(name):
    """Return the path of a model, or None if it is not part of this repository."""
    path = XLM_ROBERTA_PATH if name == XLM_ROBERTA else MODELS / f"{name}.model"
    return path if path.exists() else None


def fairseq_ids(ids):
    """Turn SentencePiece ids of XLM-RoBERTa into the ids that model uses."""
    return [{0: 3, 1: 0, 2: 2}.get(i, i + 1) for i in ids]


def text_field(name, data):
    """Return {name: text}, or {name_b64: base64} for bytes that are no UTF-8."""
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_b64": base64.b64encode(data).decode()}


def input_bytes(row):
    """Return the input of a row as bytes, or None if it is no text at all."""
    if "input_b64" in row:
        return base64.b64decode(row["input_b64"])
    try:
        return row["input"].encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        return None


def read_rows(name):
    with open(HERE / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_rows(name, rows):
    with open(HERE / name, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=True) + "\n")
    print(f"{name}: {len(rows)} rows")


class References:
    """The two releases of sentencepiece."""

    def __init__(self, new, old):
        self.oracles = {NEW: Oracle(new), OLD: Oracle(old)}
        for version, oracle in self.oracles.items():
            if oracle.version != version:
                sys.exit(f"expected sentencepiece {version}, found {oracle.version}")

    def encode(self, model, text):
        """Return {version: answer}; ids in the numbering of the goldens."""
        answers = {v: oracle.encode(model_path(model), text) for v, oracle in self.oracles.items()}
        if model == XLM_ROBERTA:
            for answer in answers.values():
                if "ids" in answer:
                    answer["sentencepiece_ids"] = answer["ids"]
                    answer["ids"] = fairseq_ids(answer["ids"])
        return answers

    def id_columns(self, model, text):
        answers = self.encode(model, text)
        return {f"sentencepiece_{version}": answers[version].get("ids") for version in (NEW, OLD)}

    def decode(self, model, ids):
        """Return {version: bytes, or None for an error}."""
        texts = {}
        for version, oracle in self.oracles.items():
            # The Python wrapper of 0.2.1 has no answer to an empty list.
            text = oracle.decode(model_path(model), ids).get("text") if ids else ""
            texts[version] = None if text is None else base64.b64decode(text)
        return texts


def detail_columns(references, model, answer):
    """Return pieces, spans, normalised and decoded text of an encoding by 0.2.3."""
    pieces = [base64.b64decode(piece) for piece in answer["pieces"]]
    columns = {}
    try:
        columns[f"pieces_{NEW}"] = [piece.decode("utf-8") for piece in pieces]
    except UnicodeDecodeError:
        pass  # no JSON text; the ids have to do
    columns[f"spans_{NEW}"] = answer["spans"]
    columns.update(text_field(f"normalized_{NEW}", base64.b64decode(answer["normalized"])))
    # The decoder wants SentencePiece ids.
    decoded = references.decode(model, answer.get("sentencepiece_ids", answer["ids"]))[NEW]
    columns.update(text_field(f"decoded_{NEW}", decoded))
    return columns


def encode_row(references, row_id, model, text, note):
    """Return one full row of `encode.jsonl`."""
    answers = references.encode(model, text)
    row = {"id": row_id, "source": "hard inputs", "model": model, **text_field("input", text)}
    row["ids"] = "fairseq" if model == XLM_ROBERTA else "sentencepiece"
    for version in (NEW, OLD):
        row[f"sentencepiece_{version}"] = answers[version].get("ids")
    if "ids" in answers[NEW]:
        row.update(detail_columns(references, model, answers[NEW]))
    row["note"] = note
    return row


def hard_cases():
    """Yield (model, text, note) of the rows that are made from `hard_inputs`."""
    for model in [XLM_ROBERTA, *TRAINED]:
        for note, text in hard_inputs.TEXTS:
            yield model, text.encode("utf-8"), note
        for text in hard_inputs.PARTICULAR.get(model, []):
            yield model, text.encode("utf-8"), f"for {model}"
    for model in hard_inputs.ALPHABETS:
        for text in hard_inputs.strings_for(model):
            yield model, text.encode("utf-8"), f"blocks of {model}"


def renewed(references, row):
    """Return a kept row with its sentencepiece columns made anew."""
    row = dict(row)
    text = input_bytes(row)
    if text is not None and model_path(row["model"]):
        row.update(references.id_columns(row["model"], text))
    return row


def make_encode(references):
    kept = [row for row in read_rows("encode.jsonl") if row["id"].startswith(REPORTED_PREFIX)]
    rows = [renewed(references, row) for row in kept]
    for number, (model, text, note) in enumerate(hard_cases(), start=1):
        rows.append(encode_row(references, f"t{number:04}", model, text, note))
    write_rows("encode.jsonl", rows)


def make_ties(references):
    rows = []
    for row in read_rows("ties.jsonl"):
        columns = references.id_columns(XLM_ROBERTA, input_bytes(row))
        rows.append({**row, **columns})
    write_rows("ties.jsonl", rows)


def make_offsets(references):
    rows = []
    for row in read_rows("offsets.jsonl"):
        text = input_bytes(row)
        answer = references.encode(XLM_ROBERTA, text)[NEW]
        spans = answer["spans"]
        rows.append(
            {
                **row,
                "sp_pieces": [base64.b64decode(piece).decode("utf-8") for piece in answer["pieces"]],
                "sp_char_offsets": [[len(text[:at].decode("utf-8")) for at in span] for span in spans],
                "sp_byte_offsets": spans,
            }
        )
    write_rows("offsets.jsonl", rows)


def make_spans(references):
    """Byte spans in the input of made-up texts and broken ones, under both releases."""
    rows = []
    for model in [XLM_ROBERTA, *TRAINED, *hard_inputs.ALPHABETS]:
        texts = [text for _, text in hard_inputs.BROKEN]
        if model in hard_inputs.ALPHABETS:
            texts = texts[:8]
        else:
            texts += [text.encode("utf-8") for text in hard_inputs.mixed_texts(model)]
        for text in texts:
            rows.append(spans_row(references, model, text))
    write_rows("spans.jsonl", rows)


def spans_row(references, model, text):
    answers = references.encode(model, text)
    row = {"model": model, **text_field("input", text)}
    for version in (NEW, OLD):
        # One column is enough where the releases agree.
        spans = answers[version].get("spans")
        if version == NEW or spans != row[f"spans_{NEW}"]:
            row[f"spans_{version}"] = spans
    return row


def make_invalid_utf8(references):
    rows = []
    for model in BROKEN_TEXT_MODELS:
        for note, text in hard_inputs.BROKEN:
            row = {"model": model, "input_b64": base64.b64encode(text).decode()}
            row["ids"] = "fairseq" if model == XLM_ROBERTA else "sentencepiece"
            rows.append({**row, **references.id_columns(model, text), "note": note})
    write_rows("invalid_utf8.jsonl", rows)


def make_load(references):
    rows = []
    for path in sorted(MODELS.glob("*.model")):
        results = {version: oracle.load(path) for version, oracle in references.oracles.items()}
        rows.append({"model": path.stem, **results})
    write_rows("load.jsonl", rows)


def special_ids(model):
    """Return the number of pieces and {what: [ids]} of those that decode oddly."""
    from sentencepiece import sentencepiece_model_pb2 as model_pb

    kinds = model_pb.ModelProto.SentencePiece
    proto = model_pb.ModelProto.FromString(model_path(model).read_bytes())
    odd_types = {kinds.UNKNOWN, kinds.CONTROL, kinds.USER_DEFINED, kinds.UNUSED}
    pieces = list(enumerate(proto.pieces))
    texts = {i: p.piece.encode() if isinstance(p.piece, str) else p.piece for i, p in pieces}
    ordinary = [i for i, p in pieces if p.type == kinds.NORMAL][:40]
    byte_ids = {texts[i]: i for i, p in pieces if p.type == kinds.BYTE}
    special = {
        "odd types": [i for i, p in pieces if p.type in odd_types] + ordinary[:3],
        "spaces": [i for i, text in texts.items() if b"\xe2\x96\x81" in text or b" " in text][:6] + ordinary[:2],
    }
    if byte_ids:
        wanted = b"A \xc3\xa9\xe3\x81\x82\xf0\x9f\x98\x80\xff\xe2\x96\x81\0"
        special["bytes"] = [byte_ids[b"<0x%02X>" % byte] for byte in wanted] + ordinary[:2]
        special["bytes of a text"] = []
    return len(pieces), {name: ids for name, ids in special.items() if ids}, byte_ids


def byte_id_lists(byte_ids):
    """Return lists of byte pieces that spell whole, cut and broken UTF-8."""
    texts = [text for _, text in hard_inputs.BROKEN[:26]]
    texts += ["é".encode(), "あ😀".encode(), " a ".encode(), "▁".encode(), "▁a▁".encode(), b"\0"]
    return [[byte_ids[b"<0x%02X>" % byte] for byte in text] for text in texts]


def make_decode(references):
    rows = []
    for model in DECODE_MODELS:
        size, special, byte_ids = special_ids(model)
        lists = hard_inputs.id_lists_for(model, size, special)
        lists += byte_id_lists(byte_ids) if byte_ids else []
        for ids in lists:
            rows.append(decode_row(references, model, ids))
    write_rows("decode.jsonl", rows)


def decode_row(references, model, ids):
    texts = references.decode(model, ids)
    row = {"model": model, "ids": ids}
    for version in (NEW, OLD):
        # One column is enough where the releases agree.
        if version == NEW or texts[version] != texts[NEW]:
            name = "text" if version == NEW else f"text_{version}"
            row.update({name: None} if texts[version] is None else text_field(name, texts[version]))
    return row


MAKERS = {
    "encode": make_encode,
    "ties": make_ties,
    "offsets": make_offsets,
    "spans": make_spans,
    "invalid_utf8": make_invalid_utf8,
    "load": make_load,
    "decode": make_decode,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--new", required=True, metavar="PYTHON", help=f"has sentencepiece {NEW}")
    parser.add_argument("--old", required=True, metavar="PYTHON", help=f"has sentencepiece {OLD}")
    parser.add_argument("--only", nargs="+", choices=MAKERS, default=list(MAKERS))
    args = parser.parse_args()
    references = References(args.new, args.old)
    for name in args.only:
        MAKERS[name](references)


if __name__ == "__main__":
    main()
