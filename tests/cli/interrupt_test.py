"""Ctrl-C while a task is being prepared. Preparing these tasks takes longer than a test waits, or ends with another
status, so that no test needs a clock."""

import signal
import time
import unittest
from pathlib import Path
from typing import NamedTuple

from support import CommandTest, finish, wait_for

CPU_TASK = """\
version: 1
name: endless
backend: cpu
entry: twice
files: {reference: kernel.cpp, seed: kernel.cpp}
sizes: {n: 8}
tensors:
  - {name: x, role: in, dtype: f32, shape: [n]}
  - {name: y, role: out, dtype: f32, shape: [n]}
timed: [{}]
"""

ENDLESS = """\
#include "task.hpp"
const int kTile = 4;  // @tune 4 8
void twice(const float* x, float* y, std::int64_t n) {
  while (true) asm volatile("");
}
"""

PYTHON_TASK = """\
version: 1
name: import
backend: python
evaluator: evaluator.py
sandbox: false
files: {seed: seed.py}
"""

# The import waits for as long as the file is there.
EVALUATOR = """\
import os
import time

open({begun!r}, "w").close()
while os.path.exists({hold!r}):
    time.sleep(0.01)

def evaluate(path):
    return 1.0
"""


class Below(NamedTuple):
    name: str
    ticks: int  # of CPU time: a hundredth of a second each


def descendants(pid):
    """What is below a process, by number."""
    children, all_of_them = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, fields = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:  # it ended meanwhile
            continue
        _, parent, *rest = fields.split()
        all_of_them[int(entry.name)] = Below(name, int(rest[9]) + int(rest[10]))
        children.setdefault(int(parent), []).append(int(entry.name))
    found, left = {}, [pid]
    while left:
        for child in children.get(left.pop(), []):
            found[child] = all_of_them[child]
            left.append(child)
    return found


def compiles(process):
    return any(one.name == "cc1plus" for one in descendants(process.pid).values())


def calls(process):
    """A runner that is never asked for a call takes little."""
    return any(one.name == "kernelsmith-run" and one.ticks > 50 for one in descendants(process.pid).values())


class InterruptTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.env = {"TMPDIR": str(self.scratch), "KERNELSMITH_CACHE": "off"}

    def write(self, name, **files):
        folder = self.folder / name
        folder.mkdir(parents=True)
        for file, text in files.items():
            (folder / file.replace("_", ".")).write_text(text)

    def write_endless(self, name="task"):
        self.write(name, task_yaml=CPU_TASK, kernel_cpp=ENDLESS)

    def write_held(self, name):
        """A task whose evaluator is not imported while the first file exists; the second one shows that it has begun."""
        hold, begun = self.folder / "hold", self.folder / "begun"
        self.write(name, task_yaml=PYTHON_TASK, seed_py="x = 0  # @tune 0 1 2 3\n",
                   evaluator_py=EVALUATOR.format(begun=str(begun), hold=str(hold)))
        return hold, begun

    def interrupt(self, *args, once, signals=(signal.SIGINT,)):
        """Sends the signals once that holds of the process; it must end as interrupted, and leave nothing behind."""
        process = self.begin(*args)
        wait_for(lambda: once(process) or process.poll() is not None, "the process to come so far")
        below = descendants(process.pid)
        for number in signals:
            process.send_signal(number)
        out, err = finish(process)
        self.assertEqual(process.returncode, 130, out + err)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below), f"the end of {below}")
        self.assertEqual(list(self.scratch.iterdir()), [])
        return out, err

    def test_while_compiling(self):
        self.write_endless()
        # `timeout` signals the process, and then its group: that is one request.
        for command, signals in ((["evaluate", "task", "task/kernel.cpp"], (signal.SIGINT, signal.SIGTERM)),
                                 (["run", "task", "--out", "a.run"], (signal.SIGINT,))):
            _, err = self.interrupt(*command, once=compiles, signals=signals)
            self.assertEqual(err.count("error: "), 1, err)
            self.assertIn("error: stopped while the task was being prepared (cancelled)", err)
        self.assertFalse((self.folder / "a.run").exists())

    def test_while_the_reference_runs(self):
        self.write_endless()
        self.interrupt("evaluate", "task", "task/kernel.cpp", once=calls)
        self.interrupt("run", "task", once=calls)

    def test_a_suite_keeps_no_result_of_it(self):
        hold, begun = self.write_held("tasks/a")
        hold.touch()
        out, err = self.interrupt("suite", "tasks", "--out", "a.suite", "--rounds", "1",
                                  once=lambda process: begun.exists())
        self.assertIn("0 of 1 task", out)
        self.assertIn("the same command goes on", err)

    def test_a_run_that_is_resumed(self):
        hold, begun = self.write_held("task")
        self.succeed("run", "task", "--out", "a.run", "--iterations", "1")
        before = (self.folder / "a.run/run.yaml").read_bytes()
        begun.unlink()
        hold.touch()
        self.interrupt("resume", "a.run", "--iterations", "2", "--set", "evaluator.sandbox=none",
                       once=lambda process: begun.exists())
        self.assertEqual((self.folder / "a.run/run.yaml").read_bytes(), before)
        hold.unlink()
        self.succeed("resume", "a.run", "--iterations", "2", "--set", "evaluator.sandbox=none")

    def test_twice(self):
        self.write_endless()
        process = self.begin("evaluate", "task", "task/kernel.cpp")
        wait_for(lambda: compiles(process), "a compiler")
        process.send_signal(signal.SIGINT)
        next(line for line in process.stderr if "Ctrl-C again ends at once" in line)
        while process.poll() is None:  # what comes within a second of the first is the same request
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        _, err = finish(process)
        self.assertEqual(process.returncode, 130, err)


if __name__ == "__main__":
    unittest.main()
