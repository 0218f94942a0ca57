"""Kernel-Smith's MACA protocol from end to end, with stand-ins of MetaX's compiler and driver: an operator in CUDA C++ goes in, a
scripted model writes MACA C++, first for waves of 32 lanes, and after the rejection for 64."""

import json
import os
import unittest
from pathlib import Path

from model import ModelTest, reply

EXAMPLE = Path(os.environ["KERNELSMITH_EXAMPLES"]) / "softmax_maca"
STAND_IN = Path(os.environ["KERNELSMITH_STAND_INS"]) / "maca"
SMALLER = {"kThreads = 256": "kThreads = 128", "{rows: 4096, cols: 2048}": "{rows: 8, cols: 96}", "[{}, {rows: 1000, cols: 5000}]": "[{}]",
           "{rows: 300, cols: 5}, {rows: 17, cols: 1023}": "{rows: 5, cols: 130}"}  # for a processor


def smaller(text):
    for part, by in SMALLER.items():
        text = text.replace(part, by)
    return text


def translated(first):
    """The reference in MACA C++, whose reductions begin at `first` lanes."""
    text = smaller((EXAMPLE / "reference.cu").read_text()).replace('#include "cuda_names.cuh"\n', "")
    text = text.replace("cudaStream_t", "mcStream_t").replace("unsigned kAllLanes = 0xffffffffU", "unsigned long kAllLanes = ~0UL")
    return text.replace("/ 32", "/ 64").replace("% 32", "% 64").replace("step = 16", f"step = {first}")


class Protocol(ModelTest):
    def test_an_operator_is_translated(self):
        task = self.folder / "tasks/level1/softmax"
        task.mkdir(parents=True)
        for file in EXAMPLE.iterdir():
            (task / file.name).write_text(smaller(file.read_text()))
        programs = [translated(16)]
        # Each of the later ones is another program, because replies without a new one end a run.
        programs += [translated(32).replace("kThreads = 128", f"kThreads = {threads}") for threads in (128, 64, 256, 512, 1024)]
        model = self.serve([reply(f"```cuda\n{program}```\n") for program in programs])
        done = self.succeed("suite", "tasks", "--preset", "kernel-smith-maca", "--rounds", 5, *self.asking(model), "--workers", 1,
                            "--set", "evaluator.arch=xcore1000", "--set", "proposer.concurrency=1", "--set", "sampler.opening=1",
                            env={"MACA_PATH": str(STAND_IN), "LD_LIBRARY_PATH": str(STAND_IN / "lib")})
        first, second = (body["messages"] for _, body in model.requests[:2])
        self.assertIn("translate the reference into MACA C++", first[1]["content"])
        self.assertIn("wrong_output", second[1]["content"])
        self.assertIn("32 lanes taken for a wave", second[1]["content"])
        self.assertEqual(model.requests[0][1]["temperature"], 0.6)
        report = json.loads((self.folder / "tasks.suite/suite.json").read_text())
        self.assertEqual(report["settings"]["preset"], "kernel-smith-maca")
        (result,) = report["results"]
        self.assertTrue(result["correct"], done.stdout + done.stderr)
        self.assertEqual([level["level"] for level in report["levels"]], [1, "all"])
        self.assertEqual(report["levels"][0]["corr"], 1)


if __name__ == "__main__":
    unittest.main()
