"""Scores a search by how far above the lowest points of three functions it ends."""

import importlib.util
import math


def bowl(x, y):
    return (x - 1.5) ** 2 + (y + 0.5) ** 2


def valley(x, y):
    return (1 - x) ** 2 / 10 + (y - x * x) ** 2


def waves(x, y):
    return x * x / 10 + y * y / 10 + 2 - math.cos(3 * x) - math.cos(3 * y)


FUNCTIONS = (bowl, valley, waves)  # each is 0 at its lowest point


def loaded(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scores(program_path, seeds):
    program = loaded(program_path)
    found = {}
    for function in FUNCTIONS:
        gaps = [function(*program.run(function, seed)) for seed in seeds]
        found[function.__name__] = 1 / (1 + sum(gaps) / len(gaps))
    found["combined_score"] = sum(found.values()) / len(found)
    return found


def evaluate_stage1(program_path):
    return scores(program_path, range(1))


def evaluate_stage2(program_path):
    return scores(program_path, range(10))


def evaluate(program_path):
    return evaluate_stage2(program_path)
