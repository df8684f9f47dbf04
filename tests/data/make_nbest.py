"""Make `nbest.jsonl` and `entropy.jsonl` by running two releases of sentencepiece.

n-best lists of 0.2.3, and of 0.2.1 where they differ; entropies of 0.2.1, which has been the last release
to calculate them.  Long lists are given by their beginning and a digest.

Usage: make_nbest.py --new PYTHON --old PYTHON

where PYTHON are interpreters with sentencepiece 0.2.3 and 0.2.1 (and protobuf).
"""

import argparse
import hashlib
import math
import struct

import hard_inputs
from make_goldens import (
    HERE,
    NEW,
    OLD,
    XLM_ROBERTA,
    References,
    fairseq_ids,
    input_bytes,
    model_path,
    read_rows,
    text_field,
    write_rows,
)

# Lists of more ids than this are cut.
WHOLE_LIST = 200
# Candidates that are left of those.
BEGINNING = 3

TRAINED = ["trained", "bytefb", "uds", "suffix", "nosplitws", "keepws", "identity", "nmt_nfkc_cf"]
CORPUS = HERE.parent / "corpus"


def long_texts():
    """Return (model, text, n) where the search runs into its limits, or nearly does."""
    english = (CORPUS / "en.txt").read_bytes()
    japanese = (CORPUS / "ja.txt").read_bytes()
    tied = "いい".encode() * 400
    for text in (english[:3000], english[:8000], english[:40000], japanese[:3000], tied, b"a" * 3000):
        for n in (2, 20, 200):
            yield XLM_ROBERTA, text, n
    for text in (b"a" * 60, b"a" * 700, b"ab" * 400, b"a" * 6000):
        for n in (2, 64, 512):
            yield "h_tie", text, n
    yield "h_zero", b"ab" * 300, 512
    yield "h_uds", b"abcde" * 100, 64


def cases():
    """Yield (model, text, n)."""
    texts = [text.encode() for _, text in hard_inputs.TEXTS]
    broken = [text for _, text in hard_inputs.BROKEN]
    for model in (XLM_ROBERTA, *TRAINED):
        for number, text in enumerate(texts + broken[::4]):
            yield model, text, (0, 1, 2, 5, 64)[number % 5]
            if len(text) < 200:
                yield model, text, 64
    for model in hard_inputs.ALPHABETS:
        if model == "bad_dup_ctrl" or model == "long7999":
            continue
        for number, text in enumerate(hard_inputs.strings_for(model)):
            yield model, text.encode(), (3, 16, 64, 512)[number % 4]
    for model in ("badutf8_piece", "h_bytes"):
        for text in broken:
            yield model, text, 20
    for row in read_rows("ties.jsonl")[::25]:
        yield XLM_ROBERTA, input_bytes(row), 64
    yield from long_texts()


def digest(candidates):
    """Return the SHA-256 over each candidate's ids as u32, 0xFFFFFFFF, and its score as f32, little-endian."""
    state = hashlib.sha256()
    for score, ids in candidates:
        state.update(struct.pack(f"<{len(ids)}IIf", *ids, 0xFFFFFFFF, score))
    return state.hexdigest()


def shown(candidates):
    """Return the candidates as JSON can say them: infinite scores are strings."""
    return [[score if math.isfinite(score) else str(score), ids] for score, ids in candidates]


def columns(candidates, suffix):
    """Return the columns of a list."""
    total = sum(len(ids) for _, ids in candidates)
    if total <= WHOLE_LIST:
        return {f"nbest_{suffix}": shown(candidates)}
    beginning = candidates[:BEGINNING]
    return {
        f"nbest_{suffix}": shown(beginning) if sum(len(ids) for _, ids in beginning) <= WHOLE_LIST else [],
        f"count_{suffix}": len(candidates),
        f"digest_{suffix}": digest(candidates),
    }


def nbest_row(references, model, text, n):
    row = {"model": model, **text_field("input", text)}
    row["ids"] = "fairseq" if model == XLM_ROBERTA else "sentencepiece"
    row["n"] = n
    lists = {}
    for version, oracle in references.oracles.items():
        found = oracle.nbest(model_path(model), text, n).get("nbest")
        if found is not None and model == XLM_ROBERTA:
            found = [[score, fairseq_ids(ids)] for score, ids in found]
        lists[version] = found
    row.update(columns(lists[NEW], NEW))
    if lists[OLD] is not None and lists[OLD] != lists[NEW]:
        row.update(columns(lists[OLD], OLD))
    return row


def entropy_rows(references):
    texts = [text.encode() for _, text in hard_inputs.TEXTS]
    for model in (XLM_ROBERTA, "trained", "bytefb", "h_tie", "h_zero"):
        for number, text in enumerate(texts):
            alpha = (0.0, 0.1, 0.25, 1.0, 3.0)[number % 5]
            answer = references.oracles[OLD].entropy(model_path(model), text, alpha)
            yield {"model": model, **text_field("input", text), "alpha": alpha, "entropy": answer["entropy"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--new", required=True, metavar="PYTHON", help=f"has sentencepiece {NEW}")
    parser.add_argument("--old", required=True, metavar="PYTHON", help=f"has sentencepiece {OLD}")
    args = parser.parse_args()
    references = References(args.new, args.old)
    write_rows("nbest.jsonl", [nbest_row(references, *case) for case in cases()])
    write_rows("entropy.jsonl", list(entropy_rows(references)))


if __name__ == "__main__":
    main()
