"""Puts generated text between the two comments of its name in docs/search-quality.md."""

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "search-quality.md"


def replace(name: str, text: str, page: Path = PAGE) -> None:
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, _, rest = page.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f'{page}: no section "{name}"')
    page.write_text(before + begin + text.strip() + "\n" + end + after)


def table(head: list[str], rows: list[list]) -> str:
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
