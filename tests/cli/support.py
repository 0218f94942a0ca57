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
    """A test with a folder of its own, where its commands run, with `env` in their environment."""

    env = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kernelsmith-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def options(self, options):
        return {"cwd": self.folder, **options, "env": {**self.env, **options.get("env", {})}}

    def ends(self, status, *args, **options):
        """The command, which must end with that status."""
        done = patiently(*args, **self.options(options))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def succeed(self, *args, **options):
        return self.ends(0, *args, **options)

    def json(self, *args, status=0, **options):
        return json.loads(self.ends(status, *args, "--json", **options).stdout)

    def lines(self, *args):
        """What `export` and its like print: an object a line."""
        return [json.loads(line) for line in self.succeed(*args).stdout.splitlines()]

    def begin(self, *args, **options):
        """The command while it runs; the test's end is its end too."""
        process = start(*args, **self.options(options))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def begin_run(self, *args, **options):
        """A run that is being written: its first best is there."""
        run = self.begin("run", *args, **options)
        run.stderr.readline()  # "task hill, ..."
        run.stderr.readline()  # the first best
        return run

    def fail_with(self, status, *args, says, code=None, **options):
        """Runs the command; it must end with `status` and one error that holds every text of `says`."""
        text = self.ends(status, *args, **options).stderr
        self.assertEqual(len([line for line in text.splitlines() if line.startswith("error: ")]), 1, text)
        for part in says:
            self.assertIn(part, text)
        if code:
            self.assertIn(f"({code})", text)
        return text

    def refused(self, *rows):
        """Wrong commands, a row each: (arguments, a text or several of the one error, and its code, if that is looked at)."""
        for args, says, *code in rows:
            with self.subTest(" ".join(map(str, args))):
                self.fail_with(2, *args, says=[says] if isinstance(says, str) else says, code=code[0] if code else None)

    def edit(self, file, before, after):
        """Replaces a text that the file holds."""
        path = self.folder / file
        text = path.read_text()
        self.assertIn(before, text)
        path.write_text(text.replace(before, after))

    def mount(self, name, size):
        """A file system of that size in the test's folder; skips the test if none may be mounted."""
        disk = self.folder / name
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("this machine does not let tests mount: " + mounted.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        return disk


class TaskTest(CommandTest):
    """With the task of this module in `task`."""

    def setUp(self):
        super().setUp()
        write_task(self.folder / "task")
