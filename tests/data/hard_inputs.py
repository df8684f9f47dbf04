"""The hard inputs from which the goldens are made, and id lists for decoding."""

import hashlib

# (what it is, text); for every trained model and XLM-RoBERTa.
TEXTS = [
    ("empty", ""),
    ("one space", " "),
    ("spaces only", "     "),
    ("space at both ends", " hello "),
    ("runs of spaces", "  hello   world  "),
    ("tabs and line ends", "\ta\t\tb\r\nc\n\nd\n"),
    ("every white space character", "a\u00a0b\u1680c\u2003d\u200be\u2028f\u202fg\u205fh\u3000i\ufeffj\u0085k\u180el"),
    ("white space at the edges, not ASCII", "\u3000\u00a0x\u2009\u3000"),
    ("space that appears by normalising, beside spaces", "a \u3000 b \u200b c"),
    ("literal U+2581", "a\u2581b"),
    ("only U+2581", "\u2581"),
    ("U+2581 at the edges", "\u2581\u2581a\u2581\u2581"),
    ("U+2581 beside spaces", " \u2581 a \u2581 b\u2581 "),
    ("NUL inside", "a\0b"),
    ("NUL only", "\0"),
    ("NUL at the edges, with spaces", " \0 a \0 "),
    ("controls", "T\u0010his \u0001is\u007f a\u0008 \u001btest\u009f"),
    ("controls only", "\u0001\u0002\u001f"),
    ("controls between spaces", "a \u0001 b \u0001\u0001 c"),
    ("unknown characters in a row", "a\U00012000\U00012001\U00012002b"),
    ("unknown characters apart", "\U00012000 \U00012001 \U00012002"),
    ("unknown at the edges", "\U00012000abc\U00012000"),
    ("unknown beside known, many times", "x\U00012000" * 12),
    ("emoji", "I ❤️ 👩‍👩‍👧‍👦 and 🏳️‍🌈, 👍🏽!"),
    ("flags and keycaps", "🇩🇪🇫🇷 1️⃣#️⃣"),
    ("ligatures and full width", "ﬁn ﬀﬃﬆ ＡＢＣ１２３！"),
    ("large growth", "ﷺﷺ ﷻ ㌀㌁"),
    ("half-width kana with marks", "ｶﾞｷﾟﾊﾟﾊﾞｳﾞ ｱﾞﾟ ﾞ"),
    ("kana with combining marks", "か\u3099き\u3099は\u309aあ\u3099\u3099"),
    ("combining marks in a row", "A\u0302\u0300e\u0303\u0301o\u031b\u0323a\u0300\u0301\u0302\u0303"),
    ("marks without a base", "\u0301\u0301 \u0301a"),
    ("decomposed Vietnamese", "Tie\u0302\u0301ng Vie\u0323\u0302t ra\u0302\u0301t \u0111e\u0323p"),
    ("decomposed Hangul", "\u1112\u1161\u11ab\u1100\u1161\u11a8\u1100\u1161 \u11a8\u1161"),
    ("superscripts, fractions, signs", "x² + ½ = ℃ № ™ … ª º ¹"),
    ("rules of the compact table", "<<a>> (c)(tm) <<<< (c ( c) Straße ❤\ufe0f<"),
    ("case folding", "İSTANBUL ẞß ﬁ Σς DŽ Ǆ"),
    ("special names in text", "<s>hello</s> <unk> <pad><mask>"),
    ("special names, spaced", "a <s> b </s> c <unk> d"),
    ("names of byte pieces", "<0x41> <0x0A>a<0xFF>"),
    ("letter repeated", "a" * 300),
    ("syllable repeated", "いい" * 40 + "a"),
    ("dots repeated", "." * 41 + "?" * 23),
    ("hyphens and underscores", "--__--__==__-- a--b"),
    ("digits", "3.14159265358979 1,000,000 0xDEADBEEF 12:34:56"),
    ("mixed scripts", "Hello мир 世界 مرحبا नमस्ते สวัสดี 안녕 Γειά"),
    ("right to left", "\u202bשלום \u061cعالم\u202c abc"),
    ("no spaces, long", "incomprehensibilities" * 8),
    ("code", "fn main() {\n\tlet x = &v[i..j]; // ok\n    println!(\"{x:?}\\n\");  \n}"),
    ("URL", "https://example.org/a%20b?q=1&r=%C3%A9#top"),
    ("noncharacters and the last code points", "\uffff\ufffe\U0010ffff\ufdd0\ue000"),
    ("variation selectors and joiners", "a\ufe0fb\u200dc\u200cd\u2060e\u00adf"),
    ("Latin with many marks", "Ǹgbà tí ó ti jẹ́ pé ṣíṣe àkíyèsí ḿ ǹ"),
    ("one word", "everyone"),
    ("prose", "Everyone has the right to life, liberty and the security of person."),
    ("prose, German", "Jeder hat das Recht auf Leben, Freiheit und Sicherheit der Person."),
    ("prose, Japanese", "すべて人は、生命、自由及び身体の安全に対する権利を有する。"),
]  # fmt: skip

# (what it is, bytes): text that is no UTF-8.
BROKEN = [
    ("lone 0xFF", b"a\xffb"),
    ("lone 0xFE beside spaces", b" \xfe a \xfe"),
    ("three 0xFF", b"\xff\xff\xff"),
    ("continuation first", b"\x80abc"),
    ("continuation bytes", b"a\x80\xbfb"),
    ("overlong NUL", b"a\xc0\x80b"),
    ("overlong slash in three bytes", b"a\xe0\x80\xafb"),
    ("overlong in four bytes", b"\xf0\x80\x80\xafa"),
    ("first surrogate", b"a\xed\xa0\x80b"),
    ("last surrogate", b"a\xed\xbf\xbfb"),
    ("surrogate pair (CESU-8)", b"\xed\xa0\xbd\xed\xb8\x80"),
    ("last code point before the surrogates", b"\xed\x9f\xbf"),
    ("past U+10FFFF", b"a\xf4\x90\x80\x80b"),
    ("last code point", b"\xf4\x8f\xbf\xbf"),
    ("five byte form", b"\xf8\x88\x80\x80\x80"),
    ("two bytes cut to one", b"a\xc3"),
    ("two bytes cut, then ASCII", b"\xc3a\xc3 b"),
    ("three bytes cut to two", b"a\xe3\x81"),
    ("three bytes cut, then space", b"a\xe3\x81 b"),
    ("four bytes cut to three", b"ab\xf0\x9f\x98"),
    ("four bytes cut to two, then letters", b"\xf0\x9fabc"),
    ("lead byte before a whole character", b"\xe3\xe3\x81\x82"),
    ("half of U+2581 alone", b"\xe2\x96"),
    ("half of U+2581, twice", b"\xe2\x96a\xe2\x96"),
    ("U+2581, then broken", b"\xe2\x96\x81\xff"),
    ("broken inside a kana pair", b"\xef\xbd\xb6\xff\xef\xbe\x9e"),
    ("cut mark after a base", b"e\xcc a\xcc\x81"),
    ("literal U+FFFD", b"a\xef\xbf\xbdb"),
    ("literal U+FFFD beside broken", b"a\xef\xbf\xbd\xffb"),
    ("byte order mark, then broken", b"\xef\xbb\xbfa\xff"),
    ("NUL and broken", b"\0\xff\0"),
    ("UTF-16", "Hi ü".encode("utf-16")),
    ("Latin-1", "café crème".encode("latin-1")),
    ("many", b"\xff" * 20 + b"a" + b"\x80" * 20),
    ("every byte", bytes(range(256))),
]

# Inputs that only make sense for one trained model.
PARTICULAR = {
    "uds": ["foofoobar", "foo bar foobar", "<sep><cls>", "a<sep> b <cls> ", "ＡＢ ab ＡＢ", "x  y   z", "ｆｏｏ＜ｓｅｐ＞", "<se p>", "fo o"],
    "ctrl": ["x <ctl> y [MASK] z [U] w", "[U][U] [U]", "wordtime[U]time", "＜ctl＞ ［U］", "<ctl>"],
    "suffix": ["a", "a b ", "Everyone  has ", " the"],
    "keepws": ["a  b", " a", "a ", "   ", "a\tb", "\n\na", "a\u3000 b"],
    "identity_keepws": ["a  b", " a", "if x:\n    return  1", "\t\t", "\u2581 a"],
    "bytefb_identity": ["a  b", " a", "a\nb\n\nc", "\t\t", "\U00012000"],
    "nosplitws": ["has the right to", "of the of the", "a  b", "the rights and freedoms set forth"],
    "nodummy": ["a", " a", "the the", "<<the"],
    "denorm": ["... a ,b", "(c) fish  and ss", "a~ b"],
}  # fmt: skip

# Building blocks of the made-up strings for the hand-made models.
ALPHABETS = {
    "h_tie": ["a", "aa", "b", "ab"],
    "h_tie_dummy": ["a", "b", "ab", "ba", " "],
    "h_zero": ["a", "b", "ab", " "],
    "h_pos": ["a", "b", "c", "abb", " ", "z"],
    "h_hugepos": ["é", "x", "y", "zz", "z", " "],
    "h_nonormal": ["ab", "c", "a", "b", " "],
    "h_unused": ["a", "b", "c", "abb", " "],
    "h_unkpos": ["a", "b", "?", " "],
    "h_ctrltext": ["<s>", "</s>", "a", "x", " ", "<", "/"],
    "h_nospace": ["a", "b", "é", " ", "  "],
    "h_suffix": ["a", "b", "ab", " ", "  ", "z"],
    "h_escfalse": ["a", "b", " ", "  ", "▁"],
    "h_innerspace": ["a", "b", " ", "  ", "▁", "c"],
    "h_uds": ["a", "b", "c", "d", "e", "abc", " "],
    "h_uds2": ["あ", "い", "あい", "a", "b", "c", " "],
    "h_uds3": ["foo", "bar", "foobar", "a", "b", "c", "d", " "],
    "h_uds_norm": ["ＡＢ", "™", "  ", " ", "A", "Ｂ", "a", "ｂ", "T", "\u0001"],
    "h_bytes": ["A", "B", "<0x41>", "<0x", "é", "\0", " ", "😀"],
    "nul_bf": ["a", "\0", " ", "é"],
    "bad_dup_ctrl": ["a", "<s>", " ", "b"],
    "badutf8_piece": ["a", "b", "\ufffd", " ", "あ"],
    "cm_badutf8": ["a", "b", "\t", "\u3000", " ", "ﬁ"],
    "bad_type9": ["a", "b", " "],
    "defaults": ["a", "b", " ", "  ", "c"],
    "long7999": ["a", "aaaa", "b", " "],
}  # fmt: skip
STRINGS_PER_ALPHABET = 24


def pick(seed, options):
    """Pick one of the options by a hash of the seed."""
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "little")
    return options[number % len(options)]


def strings_for(model):
    """Return the made-up strings for a hand-made model, of growing length."""
    blocks = ALPHABETS[model]
    strings = [""]
    for i in range(STRINGS_PER_ALPHABET):
        text = "".join(pick(f"{model} {i} {j}", blocks) for j in range(1 + i * 3 // 4))
        if text not in strings:
            strings.append(text)
    if model == "long7999":
        strings += ["a" * 7998, "a" * 7999, "b" + "a" * 8001]
    return strings


# What texts are mixed from: everything that normalization moves, drops or grows, and plain text.
PARTS = [
    "a", "b", "foo", "bar ", " Hello", "world", ".", "?", "-", "1", " ", "  ", " ", "\t", "\n", "\u3000", "\u00a0",
    "\u200b", "\u2581", "\u2581\u2581", "<s>", "<unk>", "</s>", "\0", "\u0001", "\u0301", "e\u0301", "\u3099",
    "\u30ab", "\u30ab\u3099", "\u1100\u1161", "\uac00", "\ufdfa", "\uff76\uff9e", "\u3347", "\u2460", "\ufb01",
    "\u2026", "\u2122", "\u00bd", "\u4e16\u754c", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u00e9", "\u00c4",
    "\U00012000", "\U00012000\U00012001", "\U0001f600", "\ufffd", "\ufeff", "\u00ad", "\u200d",
]
MIXED_TEXTS = 60


def mixed_texts(model):
    """Return made-up texts for a trained model."""
    return [
        "".join(pick(f"mixed {model} {i} {j}", PARTS) for j in range(1 + i % 23)) for i in range(MIXED_TEXTS)
    ]


def id_lists_for(model, size, special):
    """Return id lists to decode: single ids, made-up lists, specials anywhere.

    `special` names ids that deserve attention, as {what: [ids]}.
    """
    lists = [[]] + [[i] for i in (0, 1, 2, 3, size - 1)] + [[size], [-1]]
    lists += [[0, 0], [1, 2], [3, 0, 3], [0, 3, 0], [1, 3, 3, 2], [3, 3, 3]]
    for name, ids in special.items():
        for i in range(6):
            length = 1 + 2 * i
            lists.append([pick(f"{model} {name} {i} {j}", ids) for j in range(length)])
    for i in range(6):
        lists.append([pick(f"{model} {i} {j}", range(size)) for j in range(2 + 3 * i)])
    unique = []
    for ids in lists:
        if ids not in unique:
            unique.append(ids)
    return unique
