"""What the tests of the kernelsmith command share: running it, and a task that is scored in milliseconds."""

import json
import os
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

KERNELSMITH = os.environ["KERNELSMITH"]

# Longer than anything here takes, however busy the machine is.
PATIENCE_S = 240
# How often a command that found the machine too noisy to measure on is run again.
NOISY_RETRIES = 4

TASK = """\
version: 1
name: hill
backend: command
files: {seed: seed.txt, also: score.sh}
command: [sh, score.sh, "{candidate}", "{answer}"]
"""

# Adds up the digits of the candidate's knobs; no two orders of evaluation can differ.
SCORE = """\
sum=0
while read -r name equals value rest; do
  case "$equals" in =) sum=$((sum + value)) ;; esac
done < "$1"
echo "{\\"fitness\\": $sum}" > "$2"
"""

SEED = "".join(f"k{i} = 0  # @tune 0 1 2 3 4 5 6 7\n" for i in range(6))


def where_it_stands(pid):
    """A line for each thread of the process and of all that it started: its state, and where in the kernel it waits."""
    lines, processes = [], [str(pid)]
    for process in processes:
        for thread in Path("/proc", process, "task").glob("*"):
            try:
                state = (thread / "stat").read_text().rsplit(")", 1)[1].split()[0]
                command = (thread / "cmdline").read_text().replace("\0", " ")[:100]
                lines.append(f"{process} {thread.name} {state} {(thread / 'wchan').read_text()} {command}")
                processes += (thread / "children").read_text().split()
            except OSError:
                continue
    return "\n".join(lines)


def finish(process, patience_s=PATIENCE_S):
    """What the process prints until its end. A machine that was stopped meanwhile lost a second at most. What takes longer
    is killed, and the error says where it stood."""
    for _ in range(patience_s):
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            continue
    stood = where_it_stands(process.pid)
    process.kill()
    raise AssertionError(f"{process.args} took more than {patience_s} s, and stood here:\n{stood}")


def kernelsmith(*args, **options):
    """The finished process, with its output as text."""
    process = start(*args, **options)
    out, err = finish(process)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def patiently(*args, **options):
    """Like kernelsmith(), and again if the machine was too noisy: no fault of the program's."""
    for _ in range(NOISY_RETRIES):
        done = kernelsmith(*args, **options)
        if done.returncode != 3 or "(unstable)" not in done.stderr:
            break
    return done


def start(*args, env=None, **options):
    return subprocess.Popen([KERNELSMITH, *map(str, args)], env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


class Beats:
    """A clock that stands still while the machine does: it counts hundredths of a second that this process lived
    through. Use it where being late must not look like having waited."""

    LENGTH_S = 0.01

    def __init__(self):
        self._beats = 0
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self):
        while True:
            time.sleep(self.LENGTH_S)
            self._beats += 1

    def now_s(self):
        return self._beats * self.LENGTH_S


def wait_for(condition, what, patience_s=PATIENCE_S):
    """Until the condition holds; an AssertionError if it never does."""
    for _ in range(int(patience_s / Beats.LENGTH_S)):
        if condition():
            return
        time.sleep(Beats.LENGTH_S)
    raise AssertionError(f"waited in vain for {what}")


def write_task(folder, **files):
    """The task of this module in `folder`; `files` replaces texts, by name with `_` for `.`."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"task_yaml": TASK, "score_sh": SCORE, "seed_txt": SEED, **files}
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


class CommandTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kernelsmith-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def succeed(self, *args, **options):
        done = patiently(*args, cwd=self.folder, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def json(self, *args, status=0, **options):
        done = patiently(*args, "--json", cwd=self.folder, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def fail_with(self, status, *args, says, code=None, **options):
        """Runs the command; it must end with `status` and one error that holds every text of `says`."""
        done = patiently(*args, cwd=self.folder, **options)
        text = done.stderr
        self.assertEqual(done.returncode, status, done.stdout + text)
        self.assertEqual(len([line for line in text.splitlines() if line.startswith("error: ")]), 1, text)
        for part in says:
            self.assertIn(part, text)
        if code:
            self.assertIn(f"({code})", text)
        return text
