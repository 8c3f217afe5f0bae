#!/usr/bin/env python3
"""make_api.py [--check] - docs/api.md: the API text of all headers on one page.
SPDX-License-Identifier: Apache-2.0

Takes the comment at the head of each header, and what stands in its section >>api; an indented
block of a comment is code, and what it declares makes a heading. --check: writes nothing; exit
status 1 if the page is not what the headers say."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
HEADERS = ["arc.cuh", "arc_policy.cuh", "arc_tune.h", "arc/gather.cuh", "arc/hot.cuh",
           "arc/table.cuh", "arc/sums.cuh", "arc/papers.cuh", "arc/overloads.cuh"]
HEAD = """<!-- made by docs/make_api.py; edit the headers -->
# API

The text of the headers, which they hold themselves.
"""


def sections(text):
    """The comment at the head, and the section >>api."""
    yield re.match(r"/\*.*?\*/\n", text, re.S)[0]
    api = re.search(r"/\* -+ >>api -+ \*/\n(.*?)(?=\n/\* -+ >>|\n#include \"arc/)", text, re.S)
    if api:
        yield api[1]


def split(text):
    """Whole-line comments, and runs of code (comments behind code belong to it)."""
    code, lines = [], iter(text.splitlines())
    for line in lines:
        if not line.startswith("/*"):
            code.append(line)
            continue
        if any(code):
            yield True, code
        code, comment = [], [line]
        while "*/" not in comment[-1]:
            comment.append(next(lines))
        yield False, comment
    if any(code):
        yield True, code


def comment_parts(lines):
    """(is code, lines) of one comment: what is indented, or in columns, is code."""
    text = "\n".join(lines)
    text = re.sub(r"^/\* ?", "   ", text)
    text = re.sub(r"[ \t]*\*/.*$", "", text, flags=re.S)
    part, kind = [], None
    for line in (line[3:] for line in text.split("\n")):
        indented = bool(re.match("  |.*\\S  +\\S", line)) or (kind and not line)
        if indented != kind and part:
            yield kind, part
            part = []
        kind = indented
        part.append(line)
    if part:
        yield kind, part


def fenced(lines):
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "```c\n" + "\n".join(line[indent:] for line in lines) + "\n```\n"


def declared(lines):
    """The functions and types that a block of code declares."""
    text = re.sub(r"/\*.*?\*/", "", "\n".join(lines), flags=re.S)
    return [name for name in
            re.findall(r"^\s*(?:typedef struct|ARC_TUNE__FN|[a-z]\w*)[\w *]*?\b(arc_\w+)(?= ?[({;])",
                       text, re.M)]


def page():
    contents, body = [], []
    for header in HEADERS:
        anchor = re.sub(r"[^\w-]", "", header)
        contents.append(f"- [`{header}`](#{anchor})")
        body.append(f"## {header}\n")
        for section in sections((ROOT / header).read_text()):
            for is_code, lines in split(section):
                for code, part in ([(True, lines)] if is_code else comment_parts(lines)):
                    names = declared(part) if code else []
                    for name in dict.fromkeys(names):
                        if f'<a id="{name}">' not in "".join(body):
                            contents.append(f"  - [`{name}`](#{name})")
                            body.append(f'<a id="{name}"></a>')
                    body.append(fenced(part) if code else "\n".join(part).strip() + "\n")
    return HEAD + "\n" + "\n".join(contents) + "\n\n" + "\n".join(body)


def main():
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    if PAGE.read_text() == text:
        return 0
    print("docs/api.md is not what the headers say: run docs/make_api.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
