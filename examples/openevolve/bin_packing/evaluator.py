"""Scores an online packing by the bins that its items need at least, over those that it opened."""

import importlib.util
import math
import random

from openevolve.evaluation_result import EvaluationResult


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    shares, lines = [], []
    for seed in range(8):
        rng = random.Random(seed)
        items = [rng.choice((0.15, 0.26, 0.35, 0.51, 0.6)) + rng.random() / 20 for _ in range(120)]
        room = program.pack(items)
        if min(room) < -1e-9:
            raise ValueError(f"a bin holds {1 - min(room):.3f}")
        shares.append(math.ceil(sum(items)) / len(room))
        lines.append(f"items {len(items)}, bins {len(room)}, room left over {sum(room):.2f}")
    score = sum(shares) / len(shares)
    return EvaluationResult({"combined_score": score, "worst": min(shares)}, {"packings": "\n".join(lines)})
