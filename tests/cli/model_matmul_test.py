"""examples/matmul_cpu with its real evaluator and a scripted model: the run survives every reply, uses the good ones, has
the broken ones repaired, and finds the winner; and a task without a seed begins with a translation."""

import os
import shutil
import unittest
from collections import Counter
from pathlib import Path

from model import ModelTest, events, proposals, reply

EXAMPLE = Path(os.environ["KERNELSMITH_SOURCE"]) / "examples/matmul_cpu"
SEED = (EXAMPLE / "seed.cpp").read_text()
REPAIR = "The current program was rejected. Find the cause"
TRANSLATE = "There is no working program yet."


def replaced(text, *changes):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


# Tiles of registers over packed panels: several times as fast as the rest, on any machine.
WINNER = replaced(SEED, ("kSums = in_memory;", "kSums = in_registers;"), ("kPack = false;", "kPack = true;"),
                  ("kRows = 4;", "kRows = 6;"), ("kVectors = 1;", "kVectors = 2;"),
                  ("using Index =", "// the winner\nusing Index ="))
RIGHT = replaced(SEED, ("using Index =", "constexpr int kMarked = 2;  // @tune 1 2 4\nusing Index ="),
                 ("c[i] = 0;", "c[i] = 0 * static_cast<float>(kMarked);"))
WRONG = replaced(SEED, ("for (Index p = 0; p < k; ++p)\n      for (Index j = 0; j < n; ++j) c[i * n + j] +=",
                        "for (Index p = 1; p < k; ++p)  // wrong\n      for (Index j = 0; j < n; ++j) c[i * n + j] +="))
WRONG_MENDED = WRONG.replace("Index p = 1; p < k; ++p)  // wrong", "Index p = 0; p < k; ++p)  // no longer wrong")
BROKEN = replaced(SEED, ("c[i] = 0;", "c[i] = zero_of_broken;"))
BROKEN_MENDED = BROKEN.replace("zero_of_broken", "0.0F /* no longer broken */")


def block_of(program):
    return program[program.index("// EVOLVE-BLOCK-START"):]


# (text of the reply, its finish_reason), one a request that is no repair.
SCRIPT = [
    (f"More knobs:\n```cpp\n{RIGHT}```\nTry them.", "stop"),
    (f"```cpp\n{WRONG}```", "stop"),
    (f"<think>\n```cpp\nint matmul;\n```\n</think>\n~~~~c++ title=\"seed.cpp\"\n{BROKEN}~~~~\n".replace("\n", "\r\n"),
     "stop"),
    ("<<<<<<< SEARCH\nthis line is nowhere\n=======\nint x;\n>>>>>>> REPLACE\n", "stop"),
    ("", "content_filter"),
    ("I would tile the loops.", "stop"),
    ("```cpp\n" + SEED[:len(SEED) // 2], "length"),
    (f"Only the block:\n````\n{block_of(WINNER)}````\n", "stop"),
]
REFUSED = Counter(["edit_unmatched", "declined", "no_code", "truncated"])


class Script:
    """The replies in their order, the last one for ever; to a request for a repair the mended program."""

    def __init__(self, replies):
        self.asked = []
        self.left = list(replies)

    def __call__(self, _, body):
        prompt = "\n".join(message["content"] for message in body["messages"])
        self.asked.append(prompt)
        if REPAIR in prompt:
            broken = "zero_of_broken" in prompt.split("\n# Current program\n")[-1]
            return reply(f"```cpp\n{BROKEN_MENDED if broken else WRONG_MENDED}```")
        return reply(*(self.left.pop(0) if len(self.left) > 1 else self.left[0]))


def rejections(run):
    evaluations = [event["evaluation"] for event in events(run) if event["event"] == "evaluation_arrived"]
    return Counter(evaluation["code"] for evaluation in evaluations if not evaluation["accepted"])


class ModelMatmulTest(ModelTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(EXAMPLE, self.folder / "matmul")

    def run_with(self, replies, iterations):
        """What was asked, and what arrived."""
        script = Script(replies)
        self.succeed("run", "matmul", "--out", "it.run", "--iterations", iterations, "--workers", 1, *self.asking(self.serve(script)),
                     "--set", "proposer.concurrency=1")
        return script.asked, proposals(self.folder / "it.run")

    def test_every_reply_is_accounted_for_and_the_winner_is_found(self):
        asked, arrived = self.run_with(SCRIPT, len(SCRIPT))
        paid = [proposal for proposal in arrived if proposal["cost"]["input_tokens"]]
        self.assertEqual(len(paid), len(asked), "each reply is paid for and journalled once")
        self.assertEqual(Counter(p["refusal"]["code"] for p in paid if "refusal" in p), REFUSED)
        # Four programs and two repairs; the right one with its knobs, the winner and both repairs are accepted.
        self.assertEqual(rejections(self.folder / "it.run"), Counter(["wrong_output", "compile_failed"]))
        origins = [proposal["child"]["origin"] for proposal in paid if "child" in proposal]
        self.assertEqual((len(origins), origins.count("repair")), (6, 2))
        self.assertEqual(sum(REPAIR in prompt for prompt in asked), 2)
        self.assertIn("// the winner", (self.folder / "it.run/best/seed.cpp").read_text())

    def test_without_a_seed_a_run_begins_with_a_translation(self):
        self.edit("matmul/task.yaml", " seed: seed.cpp,", "")
        (self.folder / "matmul/seed.cpp").unlink()
        asked, arrived = self.run_with([(f"```cpp\n{BROKEN}```", "stop"), (f"```cpp\n{WINNER}```", "stop")], 2)
        self.assertIn(TRANSLATE, asked[0])
        self.assertIn("The sum is kept in double", asked[0], "the reference is shown")
        self.assertEqual(arrived[0]["child"]["origin"], "translate")
        best = self.json("show", "it.run")["best"]
        self.assertGreater(best["evaluation"]["fitness"], 0)


if __name__ == "__main__":
    unittest.main()
