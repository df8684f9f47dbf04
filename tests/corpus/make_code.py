"""Write `code.txt`: made-up source code in six notations, the same on every run.

The text is for tests and training only.  It has what source code brings to a
tokenizer: indentation by spaces and tabs, operators in rows, identifiers in
several cases, numbers in several bases, quotes, escapes, URLs and trailing
spaces.

Usage: make_code.py [--out FILE] [--bytes SIZE]
"""

import argparse
import pathlib
import random

WORDS = (
    "node edge score piece token buffer index offset length count value result "
    "state input output cache table row column parent child first last next start "
    "end left right width height key hash map list queue stack tree path line byte "
    "char word text image header section page block chunk reader writer config "
    "limit total weight user name file socket frame"
).split()
VERBS = "get set find read write push pop merge split parse encode decode load check update".split()
TYPES = {
    "rust": ["u8", "u32", "usize", "f32", "&str", "Vec<u8>", "Option<usize>", "Result<(), Error>"],
    "c": ["int", "size_t", "const char *", "uint32_t", "double", "struct node *"],
}
OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
COMMENTS = [
    "keep the earliest start on a tie",
    "the last unit is a sentinel",
    "TODO: measure before changing this",
    "see RFC 3629, section 3",
    "never empty here",
    "nächste Zeile übernehmen",
    "幅は文字数ではなくバイト数",
    "не больше 64 КиБ",
]


class Source:
    """Random choices that do not depend on the Python version.

    Only `random.Random.random` promises the same sequence in every version.
    """

    def __init__(self, seed):
        self._random = random.Random(seed)

    def below(self, bound):
        return int(self._random.random() * bound)

    def pick(self, options):
        return options[self.below(len(options))]

    def name(self):
        return "_".join(self.pick(WORDS) for _ in range(1 + self.below(3)))

    def camel(self):
        return "".join(part.capitalize() for part in self.name().split("_"))

    def sentence(self):
        comment = self.pick(COMMENTS)
        return comment[0].upper() + comment[1:]

    def number(self):
        value = self.below(1 << (4 + self.below(28)))
        return self.pick([str(value), hex(value), f"{value / 1000:.3f}", f"1e-{value % 12}"])

    def string(self):
        words = " ".join(self.pick(WORDS) for _ in range(1 + self.below(4)))
        return self.pick([words, words + "\\n", "%s: " + words, words.upper() + "!", "\\x1b[0m", "…"])

    def expression(self, depth=0):
        kind = self.below(6)
        if depth > 2 or kind == 0:
            return self.number()
        if kind == 1:
            return self.name()
        if kind == 2:
            return f"{self.name()}[{self.expression(depth + 1)}]"
        if kind == 3:
            return f"{self.pick(VERBS)}_{self.name()}({self.expression(depth + 1)}, {self.name()})"
        return f"({self.expression(depth + 1)} {self.pick(OPERATORS)} {self.name()})"


def rust(src):
    lines = [f"/// {src.sentence()}.", "#[inline]"]
    lines.append(
        f"pub fn {src.pick(VERBS)}_{src.name()}(&self, {src.name()}: {src.pick(TYPES['rust'])})"
        f" -> {src.pick(TYPES['rust'])} {{"
    )
    for _ in range(1 + src.below(4)):
        lines.append(f"    let mut {src.name()} = {src.expression()};")
    lines.append(f"    for (i, &{src.pick(WORDS)}) in self.{src.name()}.iter().enumerate() {{")
    lines.append(f"        if i {src.pick(COMPARISONS)} {src.number()} && !{src.name()}.is_empty() {{")
    lines.append(f"            return Err(Error::{src.camel()}(format!(\"{src.string()} {{i}}\")));")
    lines += ["        }", "    }", f"    {src.expression()}", "}"]
    return lines


def python(src):
    lines = [f"def {src.pick(VERBS)}_{src.name()}(self, {src.name()}=None, *args, **kwargs):"]
    lines.append(f'    """{src.sentence()}."""')
    lines.append(f"    if {src.name()} is not None and {src.name()} {src.pick(COMPARISONS)} {src.number()}:")
    lines.append(f"        raise ValueError(f\"{src.string()} {{{src.name()}!r}}\")")
    for _ in range(1 + src.below(4)):
        lines.append(f"    self.{src.name()} = [{src.expression()} for x in range({src.below(100)})]")
    lines.append(f"    return {{'{src.name()}': {src.expression()}, **kwargs}}")
    return lines


def c(src):
    lines = [f"#define {src.name().upper()} {src.number()}u"]
    lines.append(f"static {src.pick(TYPES['c'])} {src.name()}({src.pick(TYPES['c'])} {src.name()}, void *p)")
    lines.append("{")
    for _ in range(1 + src.below(3)):
        lines.append(f"\t{src.pick(TYPES['c'])} {src.name()} = {src.expression()};\t/* {src.pick(COMMENTS)} */")
    lines.append(f"\twhile (p->{src.name()} != NULL && --{src.pick(WORDS)} {src.pick(COMPARISONS)} 0) {{")
    lines.append(f"\t\tfprintf(stderr, \"{src.string()}\", {src.name()});")
    lines += [f"\t\tp->{src.name()} |= {src.expression()};", "\t}", "\treturn 0;", "}"]
    return lines


def json_text(src):
    lines = ["{"]
    for _ in range(2 + src.below(5)):
        lines.append(f'  "{src.name()}": {{"id": {src.below(99999)}, "text": "{src.string()}", "ok": true}},')
    lines += [f'  "url": "https://example.org/{src.name()}/{src.below(999)}?q={src.pick(WORDS)}&n={src.below(99)}"', "}"]
    return lines


def markup(src):
    lines = ["<!-- " + src.pick(COMMENTS) + " -->", f'<table class="{src.name()}" id="t{src.below(999)}">']
    for _ in range(1 + src.below(4)):
        lines.append(f"  <tr><td>{src.string()}</td><td>&nbsp;{src.number()}</td></tr>  ")
    return lines + ["</table>"]


def shell(src):
    return [
        "#!/bin/sh -e",
        f"# {src.pick(COMMENTS)}",
        f"for f in ./{src.name()}/*.txt; do",
        f'    grep -n "^{src.pick(WORDS)}.*{src.pick(WORDS)}$" "$f" | sort -u | head -{src.below(50)} >> {src.name()}.log 2>&1 || true',
        f"    [ -z \"${{{src.name().upper()}:-}}\" ] && echo '{src.string()}' ;;",
        "done",
    ]


def generate(size):
    """Return at least `size` bytes of code, cut at the end of a block."""
    src = Source("code.txt")
    blocks, total = [], 0
    while total < size:
        block = "\n".join(src.pick([rust, python, c, json_text, markup, shell])(src)) + "\n"
        blocks.append(block)
        total += len(block.encode("utf-8")) + 1
    return "\n".join(blocks)


def main():
    here = pathlib.Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=here / "code.txt")
    parser.add_argument("--bytes", type=int, default=60_000)
    args = parser.parse_args()
    args.out.write_bytes(generate(args.bytes).encode("utf-8"))


if __name__ == "__main__":
    main()
