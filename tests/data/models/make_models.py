"""Make every test model of this folder, the same bytes on every run.

Needs sentencepiece 0.2.3 and protobuf.  The trained models learn from the texts
in `../../corpus`; the trainer runs on one thread, which makes it deterministic.

Usage: make_models.py [--out FOLDER] [--check]
"""

import argparse
import hashlib
import io
import os
import pathlib
import sys

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_pb

import damaged
import handmade
import rules

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "corpus"
SENTENCEPIECE_VERSION = "0.2.3"
TRAINING_TEXTS = ["en", "de", "fr", "vi", "ru", "ar", "hi", "ja", "code"]
RULES_TSV = "rules.tsv"
DENORMALIZATION_TSV = "denormalization_rules.tsv"

COMPACT = {"normalization_rule_tsv": RULES_TSV}
IDENTITY = {"normalization_rule_name": "identity"}
USER_DEFINED_SYMBOLS = ["<sep>", "<cls>", "foo", "foobar", "ＡＢ", "  ", "▁▁"]

# The options in which the trained models differ.  Three carry a real rule table
# of 240 kB, the others the compact one or none.
TRAINED = {
    "trained": {"normalization_rule_name": "nmt_nfkc"},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf"},
    "nfkc_cf": {"normalization_rule_name": "nfkc_cf"},
    "bytefb": {**COMPACT, "byte_fallback": True},
    "bytefb_identity": {
        **IDENTITY,
        "byte_fallback": True,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    },
    "uds": {**COMPACT, "user_defined_symbols": USER_DEFINED_SYMBOLS},
    "ctrl": {**COMPACT, "control_symbols": ["<ctl>", "[MASK]"], "user_defined_symbols": ["[U]"]},
    "suffix": {**COMPACT, "treat_whitespace_as_suffix": True},
    "nodummy": {**COMPACT, "add_dummy_prefix": False},
    "keepws": {**COMPACT, "remove_extra_whitespaces": False},
    "nosplitws": {**COMPACT, "split_by_whitespace": False, "max_sentencepiece_length": 24},
    "identity": IDENTITY,
    "identity_keepws": {**IDENTITY, "remove_extra_whitespaces": False},
    "denorm": {**COMPACT, "denormalization_rule_tsv": DENORMALIZATION_TSV},
}


def training_sentences():
    """Return the lines of the training texts, in a fixed order."""
    lines = []
    for name in TRAINING_TEXTS:
        text = (CORPUS / f"{name}.txt").read_text(encoding="utf-8")
        lines += [line for line in text.split("\n") if line]
    return lines


def train(sentences, options):
    """Train one model and return the bytes of its file."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=out,
        model_type="unigram",
        vocab_size=2000,
        character_coverage=0.98,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **options,
    )
    return out.getvalue()


def rule_table(model):
    """Return the compiled rule table of a model file."""
    return model_pb.ModelProto.FromString(model).normalizer_spec.precompiled_charsmap


def make_all():
    """Return {name: bytes} of every model."""
    sentences = training_sentences()
    models = {name: train(sentences, options) for name, options in TRAINED.items()}
    compact_table = rule_table(models["nodummy"])
    models.update(handmade.handmade_models(compact_table))
    models.update(damaged.damaged_table_models(compact_table))
    models.update(damaged.damaged_files(models["nodummy"]))
    return models


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--check", action="store_true", help="compare, write no models")
    args = parser.parse_args()

    if sentencepiece.__version__ != SENTENCEPIECE_VERSION:
        sys.exit(f"needs sentencepiece {SENTENCEPIECE_VERSION}, found {sentencepiece.__version__}")
    out = args.out.resolve()
    # The models name their rule files: a relative path keeps machines out of them.
    os.chdir(HERE)
    rules.write_tsv(rules.normalization_rules(), RULES_TSV)
    rules.write_tsv(rules.denormalization_rules(), DENORMALIZATION_TSV)

    differing = []
    for name, data in sorted(make_all().items()):
        path = out / f"{name}.model"
        if not args.check:
            path.write_bytes(data)
            print(f"{hashlib.sha256(data).hexdigest()}  {path.name}")
        elif not path.exists() or path.read_bytes() != data:
            differing.append(path.name)
    if differing:
        sys.exit("differ: " + " ".join(differing))


if __name__ == "__main__":
    main()
