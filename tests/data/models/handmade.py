"""Models written piece by piece: one corner of the format or of the search each.

`h_*` must encode as their goldens say, `bad_*` mostly must be refused (the
goldens in `../load.jsonl` say which reference does what), `type_*` are the
other model types.
"""

import math

from sentencepiece import sentencepiece_model_pb2 as model_pb

_TYPES = model_pb.ModelProto.SentencePiece
UNKNOWN = _TYPES.UNKNOWN
CONTROL = _TYPES.CONTROL
USER_DEFINED = _TYPES.USER_DEFINED
UNUSED = _TYPES.UNUSED
BYTE = _TYPES.BYTE
UNIGRAM, BPE = model_pb.TrainerSpec.UNIGRAM, model_pb.TrainerSpec.BPE
WORD, CHAR = model_pb.TrainerSpec.WORD, model_pb.TrainerSpec.CHAR

UNK = ("<unk>", 0.0, UNKNOWN)
BOS = ("<s>", 0.0, CONTROL)
EOS = ("</s>", 0.0, CONTROL)
SPECIALS = [UNK, BOS, EOS]
A, B, C, SPACE = ("a", -2.0), ("b", -2.0), ("c", -2.0), ("▁", -2.0)
D = ("d", -2.0)

# A piece may hold bytes that are no UTF-8, which Python's protobuf refuses to
# set: it goes in under a stand-in of the same length.
STAND_INS = {b"\xff\xfe": b"?0", b"\xe3\x81": b"?1"}


def byte_pieces(**renamed):
    """The 256 BYTE pieces; `x07="name"` renames one, `x07=None` leaves it out."""
    names = {f"x{value:02X}": f"<0x{value:02X}>" for value in range(256)}
    names.update(renamed)
    return [(name, 0.0, BYTE) for name in names.values() if name is not None]


def user_defined(*texts):
    return [(text, 0.0, USER_DEFINED) for text in texts]


def model(
    pieces,
    *,
    model_type=UNIGRAM,
    dummy_prefix=False,
    remove_extra=False,
    escape=True,
    as_suffix=False,
    byte_fallback=False,
    charsmap=b"",
    normalizer="identity",
):
    """Return the bytes of a model file; a piece is (text, score[, type])."""
    proto = model_pb.ModelProto()
    for text, score, *kind in pieces:
        piece = proto.pieces.add(piece=STAND_INS.get(text, text), score=score)
        if kind:
            piece.type = kind[0]
    proto.trainer_spec.model_type = model_type
    proto.trainer_spec.treat_whitespace_as_suffix = as_suffix
    proto.trainer_spec.byte_fallback = byte_fallback
    spec = proto.normalizer_spec
    spec.name = normalizer
    spec.precompiled_charsmap = charsmap
    spec.add_dummy_prefix = dummy_prefix
    spec.remove_extra_whitespaces = remove_extra
    spec.escape_whitespaces = escape
    data = proto.SerializeToString()
    for text, stand_in in STAND_INS.items():
        data = data.replace(stand_in, text)
    return data


def prose(pieces, **options):
    """A model with the usual white space options: dummy prefix, no extra spaces."""
    return model(pieces, dummy_prefix=True, remove_extra=True, **options)


def defaults_model():
    """No trainer or normalizer spec, no scores, no types."""
    proto = model_pb.ModelProto()
    proto.pieces.add(piece="<unk>", score=0.0, type=UNKNOWN)
    for text in "ab▁":
        proto.pieces.add(piece=text)
    return proto.SerializeToString()


def unknown_type_model():
    """Model type 9, which no release knows: the field is left at its default."""
    data = model([*SPECIALS, A])
    field, value = b"\x18", bytes([UNIGRAM])  # trainer_spec.model_type = 3
    tail = b"\xc0\x01\x00"  # the field after it, treat_whitespace_as_suffix = 24
    assert data.count(field + value + tail) == 1
    return data.replace(field + value + tail, field + b"\x09" + tail)


def search_models():
    """Models for the search: ties, signs of scores, and piece types."""
    return {
        # Ties decided by the rounding of the running score: "aaa" is the float32
        # sum of the other two.
        "h_tie": model([*SPECIALS, ("a", -3.1), ("aa", -4.7), ("aaa", -7.7999997), ("b", -2.2), ("▁", -1.0)]),
        "h_tie_dummy": prose(
            [*SPECIALS, ("a", -3.1), ("aa", -4.7), ("b", -2.2), ("ab", -5.3), ("ba", -5.3), ("▁", -1.0), ("▁a", -3.5)]
        ),
        "h_zero": prose([*SPECIALS, *((text, 0.0) for text in "a b ab ba aba bab abab ▁ ▁a".split())]),
        "h_pos": prose(
            [*SPECIALS, ("a", 1.5), ("b", 0.5), ("ab", 2.0), ("abb", 2.25), ("c", -1.0), ("bc", 0.25), SPACE]
        ),
        # The unknown score is the least over the ordinary pieces, not over all.
        "h_hugepos": prose(
            [*SPECIALS, ("x", 20.0), ("éx", -5.0), ("éé", -4.0), ("y", -1.0), ("zz", -100.0, UNUSED), SPACE]
        ),
        # No ordinary piece at all: the least score stays at FLT_MAX.
        "h_nonormal": model([*SPECIALS, *user_defined("ab", "c")]),
        "h_unused": prose(
            [*SPECIALS, A, ("b", -2.0, UNUSED), ("ab", -5.0), ("abb", -1.0, UNUSED), ("c", -3.0), ("bc", -4.0), SPACE]
        ),
        "h_unkpos": prose([BOS, EOS, A, B, SPACE, UNK]),
        "h_ctrltext": prose(
            [*SPECIALS, A, *((text, -2.0) for text in "<s>/"), ("<s>x", -1.0), ("</", -3.0), SPACE]
        ),
    }


def white_space_models():
    """Models for the handling of white space."""
    return {
        "h_nospace": prose([*SPECIALS, A, B, ("ab", -2.5)]),
        "h_suffix": prose([*SPECIALS, A, B, SPACE, ("a▁", -2.2), ("ab▁", -2.5)], as_suffix=True),
        "h_escfalse": prose([*SPECIALS, A, B, (" ", -1.5), (" a", -2.5), ("▁", -3.0)], escape=False),
        "h_innerspace": model(
            [*SPECIALS, A, B, SPACE, ("▁a", -2.5), ("a▁b", -3.0), ("▁a▁b", -3.5), ("b▁", -2.2), ("▁▁", -2.1), ("▁▁▁", -2.2)],
            dummy_prefix=True,
        ),
    }  # fmt: skip


def user_defined_models(charsmap):
    """Overlapping user-defined pieces, and such pieces beside the normaliser."""
    return {
        "h_uds": prose(
            [*SPECIALS, A, B, C, D, ("e", -2.5), ("abcd", -1.0), ("bcde", -0.5), ("cd", -3.0)]
            + [*user_defined("ab", "abc", "bcd", "de"), SPACE]
        ),
        "h_uds2": prose(
            [*SPECIALS, A, B, C, ("あ", -2.0), ("い", -3.0), *user_defined("あい", "いい", "ab", "bc"), ("abc", -0.05), SPACE]
        ),
        "h_uds3": prose(
            [*SPECIALS, *((text, -2.0) for text in "abcdefor"), ("foobar", 0.0), ("bcd", 0.0)]
            + [*user_defined("foo", "bar", "abc"), SPACE]
        ),
        "h_uds_norm": prose(
            [*SPECIALS, A, B, ("A", -3.0), ("B", -3.0), *user_defined("ＡＢ", "™", "  "), SPACE, ("T", -4.0), ("M", -4.0)],
            normalizer="user_defined",
            charsmap=charsmap,
        ),
    }  # fmt: skip


def byte_models():
    """BYTE pieces: whole, missing, misnamed, or present without byte fallback."""
    text = [("A", -2.0), ("B", -2.0), ("AB", -3.0), *((char, -4.0) for char in "<>0x41"), SPACE]
    return {
        "h_bytes": prose([*SPECIALS, *byte_pieces(), *text], byte_fallback=True),
        "nul_bf": model([*SPECIALS, *byte_pieces(), A, ("\0", -2.0), SPACE], byte_fallback=True),
        "bad_bf255": model([*SPECIALS, *byte_pieces(x07=None), A, SPACE], byte_fallback=True),
        "bad_bytename": model([*SPECIALS, *byte_pieces(x07="<0xZZ>"), A, SPACE], byte_fallback=True),
        "bad_bytenobf": model([*SPECIALS, A, SPACE, ("<0x41>", 0.0, BYTE)]),
    }


def odd_models():
    """Odd or hostile vocabularies."""
    return {
        "bad_dup": model([*SPECIALS, A, B, ("a", -1.0), SPACE]),
        "bad_dup_ctrl": model([*SPECIALS, A, ("<s>", -2.0), SPACE]),
        "bad_empty": model([*SPECIALS, A, ("", -2.0), SPACE]),
        "bad_empty_file": b"",
        "bad_nopieces": model([]),
        "bad_nounk": model([BOS, EOS, A, SPACE]),
        "bad_twounk": model([*SPECIALS, A, ("<unk2>", 0.0, UNKNOWN), SPACE]),
        "bad_inf": model([*SPECIALS, ("a", -math.inf), B, ("ab", -3.0), SPACE]),
        "bad_posinf": model([*SPECIALS, ("a", math.inf), B, SPACE]),
        "bad_nan": model([*SPECIALS, ("a", math.nan), B, SPACE]),
        "bad_nul": model([*SPECIALS, A, ("\0", -2.0), SPACE]),
        "bad_nul_inside": model([*SPECIALS, A, ("a\0b", -2.0), SPACE]),
        "bad_long200k": model([*SPECIALS, A, ("a" * 200_000, -3.0), SPACE]),
        "bad_long8000": model([*SPECIALS, A, ("a" * 8_000, -3.0), SPACE]),
        "long7999": model([*SPECIALS, A, ("a" * 7_999, -3.0), SPACE]),
        "badutf8_piece": model([UNK, BOS, A, (b"\xff\xfe", -1.0), (b"\xe3\x81", -1.0), B, SPACE]),
        "bad_type9": unknown_type_model(),
        "defaults": defaults_model(),
        "type_bpe": model([*SPECIALS, A, B, ("ab", 0.0), SPACE], model_type=BPE),
        "type_char": model([*SPECIALS, A, B, ("ab", 0.0), SPACE], model_type=CHAR),
        "type_word": model([*SPECIALS, A, B, ("▁ab", 0.0), SPACE], model_type=WORD, dummy_prefix=True),
    }


def handmade_models(charsmap):
    """Return {name: bytes}; `charsmap` is the compact rule table."""
    return {
        **search_models(),
        **white_space_models(),
        **user_defined_models(charsmap),
        **byte_models(),
        **odd_models(),
    }
