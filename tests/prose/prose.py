"""The sentences of a file: its comments and string literals, or all of it if it is a page, a prompt or a script.

What stands on several lines is one text, because sentences go on over the ends of lines.
"""

import bisect
import io
import re
import tokenize
from dataclasses import dataclass, field

C_TOKEN = re.compile(
    r"""//(?P<line>[^\n]*)
      | /\*(?P<block>.*?)\*/
      | R"(?P<mark>[^()\s]*)\((?P<raw>.*?)\)(?P=mark)"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'
      | "(?P<string>(?:\\.|[^"\\\n])*)"
      """,
    re.DOTALL | re.VERBOSE,
)
PYTHON_STRING = re.compile(r"^[a-zA-Z]*('''|\"\"\"|'|\")(.*)\1$", re.DOTALL)
PARAGRAPH_START = re.compile(r"^\s*$|^\s*([-*>|#]|\d+\.)(\s|$)")


@dataclass
class Text:
    """A piece of prose, and the line that each of its parts came from."""

    kind: str
    text: str = ""
    starts: list = field(default_factory=list)
    lines: list = field(default_factory=list)

    def add(self, line, text, glue):
        self.text += glue if self.text else ""
        self.starts.append(len(self.text))
        self.lines.append(line)
        self.text += text

    def line_at(self, offset):
        return self.lines[bisect.bisect_right(self.starts, offset) - 1]


def lines_of(first, text):
    return [(first + index, line.strip(" *#/<")) for index, line in enumerate(text.split("\n"))]


def joined(pieces):
    """Texts of (kind, line, text) pieces: comments on following lines are one, and literals with only blanks between too."""
    texts = []
    last = None
    for kind, line, text, adjacent in pieces:
        if not (last and adjacent and texts[-1].kind == kind):
            texts.append(Text(kind))
        glue = " " if kind == "comment" else ""
        for number, part in lines_of(line, text) if kind == "comment" else [(line, text)]:
            texts[-1].add(number, part, glue)
        last = kind
    return texts


def of_c(source):
    def pieces():
        end, line = 0, 1
        for match in C_TOKEN.finditer(source):
            between = source[end : match.start()]
            line += between.count("\n")
            kind = "comment" if match["line"] is not None or match["block"] is not None else "string"
            found = next((match[name] for name in ("line", "block", "raw", "string") if match[name] is not None), None)
            if found is not None:
                yield kind, line, found.replace("\\n", "\n"), not between.strip() and between.count("\n") < 2
            line += match[0].count("\n")
            end = match.end()

    return joined(pieces())


def of_python(source):
    def pieces():
        end = (0, 0)
        adjacent = False
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                continue
            if token.type == tokenize.COMMENT:
                yield "comment", token.start[0], token.string.lstrip("#"), adjacent and token.start[0] - end[0] < 2
            elif token.type == tokenize.STRING:
                found = PYTHON_STRING.match(token.string)
                docstring = found[1] in ("'''", '"""')
                yield "comment" if docstring else "string", token.start[0], found[2].replace("\\n", "\n"), adjacent
            adjacent = token.type in (tokenize.COMMENT, tokenize.STRING)
            end = token.end

    return joined(pieces())


def of_page(source):
    """Paragraphs, list items and rows of tables; fenced code is left out."""
    texts = [Text("page")]
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if fenced:
            continue
        if PARAGRAPH_START.match(line):
            texts.append(Text("page"))
        texts[-1].add(number, line.strip(), " ")
    return texts


def of_script(source):
    texts = [Text("script")]
    for number, line in enumerate(source.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            texts.append(Text("script"))
        texts[-1].add(number, line.strip(" #"), " ")
        if not line.lstrip().startswith("#"):
            texts.append(Text("script"))
    return texts


READERS = {
    ".md": of_page,
    ".mustache": of_page,
    ".cpp": of_c,
    ".hpp": of_c,
    ".h": of_c,
    ".cu": of_c,
    ".cuh": of_c,
    ".js": of_c,
    ".py": of_python,
    ".pyi": of_python,
    ".sh": of_script,
}


def texts_of(path):
    return [text for text in READERS[path.suffix](path.read_text(encoding="utf-8")) if text.text.strip()]
