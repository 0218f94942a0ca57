"""Scores a regular expression, which is the whole program, by the texts that it takes or leaves as it should."""

import re

DATES = ("2024-02-29", "1999-12-31", "2000-01-01", "2025-07-04", "0001-10-10")
OTHERS = ("2024-13-01", "2024-00-10", "2024-01-32", "24-1-1", "2024-1-01", "2024-01-1", "2024/01/01", "a2024-01-01",
          "2024-01-011", "2024-01-00", "20240101")


def evaluate(program_path):
    with open(program_path, encoding="utf-8") as file:
        pattern = re.compile(file.read().strip())
    taken = sum(pattern.fullmatch(text) is not None for text in DATES) / len(DATES)
    left = sum(pattern.fullmatch(text) is None for text in OTHERS) / len(OTHERS)
    return {"dates": taken, "others": left, "length": len(pattern.pattern), "combined_score": taken * left}
