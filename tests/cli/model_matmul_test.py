"""examples/matmul_cpu with its real evaluator and a scripted model: the run survives every reply, uses the good ones, has
the broken ones repaired, and finds the winner; and a task without a seed begins with a translation."""

import json
import os
import shutil
import sqlite3
import threading
import unittest
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from model_run_test import proposals
from support import CommandTest, kernelsmith

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


class Model:
    """Serves `script` in order, its last entry for ever; to a request for a repair the mended program."""

    def __init__(self, script):
        self.asked = []
        model = self
        left = list(script)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = "\n".join(message["content"] for message in body["messages"])
                model.asked.append(prompt)
                current = prompt.split("\n# Current program\n")[-1]
                if REPAIR in prompt:
                    mended = BROKEN_MENDED if "zero_of_broken" in current else WRONG_MENDED
                    text, finish = f"```cpp\n{mended}```", "stop"
                else:
                    text, finish = left.pop(0) if len(left) > 1 else left[0]
                answer = {"choices": [{"message": {"content": text}, "finish_reason": finish}],
                          "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}
                sent = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def rejections(run):
    database = sqlite3.connect(run / "run.db")
    bodies = [json.loads(body) for (body,) in database.execute("select body from events order by position")]
    database.close()
    evaluations = [body["evaluation"] for body in bodies if body["event"] == "evaluation_arrived"]
    return Counter(evaluation["code"] for evaluation in evaluations if not evaluation["accepted"])


class ModelMatmulTest(CommandTest):
    def run_with(self, script, iterations):
        model = Model(script)
        self.addCleanup(model.close)
        done = kernelsmith("run", "task", "--out", "it.run", "--iterations", str(iterations), "--workers", "1", "--model",
                           "scripted", "--base-url", model.url, "--set", "proposer.concurrency=1", cwd=self.folder,
                           env={"OPENAI_API_KEY": "none"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return model, proposals(self.folder / "it.run")

    def test_every_reply_is_accounted_for_and_the_winner_is_found(self):
        shutil.copytree(EXAMPLE, self.folder / "task")
        model, arrived = self.run_with(SCRIPT, len(SCRIPT))
        paid = [proposal for proposal in arrived if proposal["cost"]["input_tokens"]]
        self.assertEqual(len(paid), len(model.asked), "each reply is paid for and journalled once")
        self.assertEqual(Counter(p["refusal"]["code"] for p in paid if "refusal" in p), REFUSED)
        # Four programs and two repairs; the right one with its knobs, the winner and both repairs are accepted.
        self.assertEqual(rejections(self.folder / "it.run"), Counter(["wrong_output", "compile_failed"]))
        origins = [proposal["child"]["origin"] for proposal in paid if "child" in proposal]
        self.assertEqual((len(origins), origins.count("repair")), (6, 2))
        self.assertEqual(sum(REPAIR in prompt for prompt in model.asked), 2)
        self.assertIn("// the winner", (self.folder / "it.run/best/seed.cpp").read_text())

    def test_without_a_seed_a_run_begins_with_a_translation(self):
        task = self.folder / "task"
        shutil.copytree(EXAMPLE, task)
        yaml = (task / "task.yaml").read_text()
        (task / "task.yaml").write_text(replaced(yaml, (" seed: seed.cpp,", "")))
        (task / "seed.cpp").unlink()
        model, arrived = self.run_with([(f"```cpp\n{BROKEN}```", "stop"), (f"```cpp\n{WINNER}```", "stop")], 2)
        self.assertIn(TRANSLATE, model.asked[0])
        self.assertIn("The sum is kept in double", model.asked[0], "the reference is shown")
        self.assertEqual(arrived[0]["child"]["origin"], "translate")
        best = self.json("show", "it.run")["best"]
        self.assertGreater(best["evaluation"]["fitness"], 0)


if __name__ == "__main__":
    unittest.main()
