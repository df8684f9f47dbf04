"""Digest the ids that one release of sentencepiece gives to a folder of texts.

Run it once under each release: the results of all runs land in one file.

    PYTHON make_digests.py --model M.model [--model ...] --corpus FOLDER --out FILE

A digest is the SHA-256 of the ids as little-endian u32, with 0xFFFFFFFF after
the ids of every text encoded:

* `lines`: the file split at LF (an empty last part is no line), line by line;
* `whole`: the whole file in one call, so the digest has one end mark.

Ids of a model named `xlm-roberta` are in fairseq order, others as they come.
"""

import argparse
import hashlib
import json
import pathlib
import struct
import sys

import sentencepiece

from make_goldens import XLM_ROBERTA, fairseq_ids

END_MARK = 0xFFFFFFFF


class Digest:
    """A digest of the ids of several texts, and the number of ids."""

    def __init__(self):
        self._hash = hashlib.sha256()
        self._tokens = 0

    def add(self, ids):
        self._hash.update(struct.pack(f"<{len(ids) + 1}I", *ids, END_MARK))
        self._tokens += len(ids)

    def result(self):
        return {"tokens": self._tokens, "sha256": self._hash.hexdigest()}


def split_lines(data):
    """Split at LF; a text that ends with LF has no empty line after it."""
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def digest_of(texts, encode):
    digest = Digest()
    for text in texts:
        digest.add(encode(text))
    return digest.result()


def encoder(model):
    """Return a function from bytes to ids, in the numbering of the goldens."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    if model.stem == XLM_ROBERTA:
        return lambda text: fairseq_ids(processor.encode(text))
    return processor.encode


def describe(data):
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "lines": len(split_lines(data))}


def merge(report, texts, models):
    """Put the digests of this release into the report."""
    described = {name: describe(data) for name, data in texts.items()}
    if report.setdefault("texts", described) != described:
        sys.exit("the texts are not those of the earlier run: remove the output first")
    for model in models:
        encode = encoder(model)
        files = report.setdefault("models", {}).setdefault(model.stem, {})
        for name, data in texts.items():
            files.setdefault(name, {})[sentencepiece.__version__] = {
                "lines": digest_of(split_lines(data), encode),
                "whole": digest_of([data], encode),
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--corpus", type=pathlib.Path, required=True, help="a folder of .txt files (README.txt is left out)")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()

    paths = sorted(path for path in args.corpus.glob("*.txt") if path.name != "README.txt")
    if not paths:
        sys.exit(f"{args.corpus}: no .txt files")
    texts = {path.name: path.read_bytes() for path in paths}
    report = json.loads(args.out.read_text()) if args.out.exists() else {}
    merge(report, texts, args.model)
    args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
