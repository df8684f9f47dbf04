"""A compact set of normalisation rules that meets every feature of the real ones.

The tables of nmt_nfkc and its relatives take 240 kB each; this one takes a
thirtieth.  It has keys of one to four characters, keys that are prefixes of other keys,
replacements that grow (U+FDFA: 3 bytes to 33) and shrink, and empty ones.

Compositions come from Unicode 3.2 as Python keeps it, which no release changes.
"""

import unicodedata

# Python's frozen copy of Unicode 3.2.
UNICODE = unicodedata.ucd_3_2_0

SPACES = [0x09, 0x0A, 0x0D, 0xA0, 0x1680, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF, 0xFFFD]
DELETED = [*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F]
COMPATIBILITY = [
    *range(0xFF01, 0xFF5F),  # full-width ASCII
    *range(0xFF61, 0xFFA0),  # half-width kana
    *range(0xFB00, 0xFB07),  # Latin ligatures
    *range(0xFB50, 0xFB5A),  # Arabic presentation forms
    *range(0x2460, 0x246A),  # circled digits
    0xA8, 0xAA, 0xAF, 0xB2, 0xB3, 0xB4, 0xB5, 0xB8, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE,
    0x2026, 0x2100, 0x2116, 0x2121, 0x2122, 0x2126, 0x212B, 0x3300, 0x3301, 0xFDF2, 0xFDFA, 0xFDFB,
]  # fmt: skip
LATIN = "AEIOUYaeiouy"
MARKS = ["\u0300", "\u0301", "\u0302", "\u0303", "\u0308", "\u0309", "\u0323", "\u0306", "\u031b"]
KANA = [chr(c) for c in (*range(0x304B, 0x3070), *range(0x30AB, 0x30D0))]
HALF_WIDTH_KANA = [chr(c) for c in range(0xFF66, 0xFF9E)]
VOICED = ["\u3099", "\u309a"]
HALF_WIDTH_VOICED = ["\uff9e", "\uff9f"]
JAMO = [a + v + t for a in "\u1100\u1102\u1112" for v in "\u1161\u1169" for t in ("", "\u11a8", "\u11ab")]
# Rules of no Unicode form: longest match, context and a key of four characters.
EXTRA = {"<<": "«", "<<<": "<", "(c)": "©", "(tm)": "™", "ß": "ss", "\u200d": "", "❤\ufe0f": "<3", "ﷺ\u0300": "x"}


def normalization_rules():
    """Return {key: replacement}; a key longer than one character is a context."""
    rules = {chr(c): " " for c in SPACES}
    rules.update({chr(c): "" for c in DELETED})
    sequences = [chr(c) for c in COMPATIBILITY]
    sequences += [base + mark for base in LATIN for mark in MARKS]
    sequences += [base + mark + second for base in LATIN for mark in MARKS[2:4] for second in MARKS[:2]]
    sequences += [base + mark for base in KANA for mark in VOICED]
    sequences += [base + mark for base in HALF_WIDTH_KANA for mark in HALF_WIDTH_VOICED]
    sequences += JAMO
    for sequence in sequences:
        normal = UNICODE.normalize("NFKC", sequence)
        if normal != sequence:
            rules[sequence] = normal
    rules.update(EXTRA)
    return rules


def denormalization_rules():
    """Rules for the way back: multi-character keys, growth, loss, edge spaces."""
    return {
        "...": "…",
        "(c)": "©",
        "fi": "ﬁ",
        " ,": ",",
        "  ": " ",
        "ss": "ß",
        "~": "",
        "ａ": "a",
        "®": "(registered)",
        "か": "か\u3099",
    }


def write_tsv(rules, path):
    """Write rules as the trainer reads them: hexadecimal code points."""
    with open(path, "w", encoding="ascii", newline="\n") as out:
        for key, replacement in sorted(rules.items()):
            columns = (" ".join(f"{ord(char):X}" for char in text) for text in (key, replacement))
            out.write("\t".join(columns) + "\n")
