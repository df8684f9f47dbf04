#!/usr/bin/env python3
"""Tokenizers with a Python interface, side by side, on the documents of the Rust benchmarks.

    cargo run --release -p trie-benches -- export DIRECTORY
    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python bench.py DIRECTORY

Prints one table for each set of documents. Every engine hands its ids over as Python objects, which
costs all of them alike; figures of this table compare with each other and not with the Rust tables.
The column "other ids" counts documents whose ids differ from those the documents came with.
"""

import json
import statistics
import sys
import time
from pathlib import Path

ROUNDS = 9


def sentencepiece_engine(directory):
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(directory / "model.model"))
    fairseq = {0: 3, 1: 0, 2: 2}
    encode = processor.encode
    return encode, lambda ids: [fairseq.get(i, i + 1) for i in ids]


def tokenizers_engine(directory):
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    return (lambda text: tokenizer.encode(text, add_special_tokens=False).ids), list


def iree_engine(directory):
    import iree.tokenizer

    tokenizer = iree.tokenizer.Tokenizer.from_file(str(directory / "tokenizer.json"))
    return (lambda text: tokenizer.encode(text, add_special_tokens=False)), list


ENGINES = {
    "sentencepiece": sentencepiece_engine,
    "tokenizers": tokenizers_engine,
    "iree-tokenizer": iree_engine,
}


def load(directory):
    engines = {}
    for name, make in ENGINES.items():
        start = time.perf_counter()
        try:
            engines[name] = make(directory)
        except Exception as error:  # A missing package must not stop the others.
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        print(f"{name}: loaded in {time.perf_counter() - start:.2f} s", file=sys.stderr)
    return engines


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def bench(title, documents, engines):
    differing = {
        name: sum(to_ids(encode(d["text"])) != d["ids"] for d in documents)
        for name, (encode, to_ids) in engines.items()
    }
    texts = [document["text"] for document in documents]
    texts *= max(1, 100 // len(texts))
    size = sum(len(text.encode()) for text in texts)
    rates = {name: [] for name in engines}
    for _ in range(ROUNDS):
        for name, (encode, _) in engines.items():
            start = time.process_time()
            for text in texts:
                encode(text)
            rates[name].append(size / 1e6 / (time.process_time() - start))
    print(f"\n## {title}: {len(documents)} documents\n")
    print("| engine | MB/s | other ids |\n|---|---:|---:|")
    for name in engines:
        print(f"| {name} | {quartiles(rates[name])} | {differing[name]} |")


def main():
    directory = Path(sys.argv[1])
    documents = json.loads((directory / "documents.json").read_text())
    engines = load(directory)
    for title, some in documents.items():
        bench(title, some, engines)


if __name__ == "__main__":
    main()
