"""Tasks as a user of PyTorch writes them: none is refused, and the textbook kernel itself is accepted, and so is a seed. How
fast either is belongs to the machine. The argument is the folder of one task."""

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from support import patiently


def evaluate(task, *files):
    """One answer for each file. Asks again if the machine was too noisy to measure on."""
    done = patiently("evaluate", task, *(task / file for file in files), "--quick", "--json")
    if done.returncode not in (0, 1):
        raise AssertionError(f"{task.name} is no usable task:\n{done.stdout}{done.stderr}")
    decoder, answers, text = json.JSONDecoder(), [], done.stdout.lstrip()
    while text:
        answer, end = decoder.raw_decode(text)
        answers.append(answer)
        text = text[end:].lstrip()
    return answers


class TextbookTest(unittest.TestCase):
    task = None

    def test_reference_and_seed_are_accepted(self):
        reference, seed = evaluate(self.task, "reference.cpp", "seed.cpp")
        self.assertTrue(reference["accepted"], reference)
        self.assertTrue(seed["accepted"], seed)


if __name__ == "__main__":
    TextbookTest.task = HERE / sys.argv.pop()
    unittest.main()
