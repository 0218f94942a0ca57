"""A suite that is killed again and again, and resumed each time, ends with the files of one that nobody disturbed: with the
tuner, and with a model whose answers depend on its prompts alone."""

import ctypes
import hashlib
import json
import os
import select
import signal
import struct
import threading
import unittest

from model import program, reply
from suite_test import OPTIONS, TasksTest
from support import PATIENCE_S, finish, wait_for


class Created:
    """Reports each file that is made in a folder, while it is being written."""

    IN_CREATE = 0x100
    HEAD = struct.Struct("iIII")

    def __init__(self, folder):
        libc = ctypes.CDLL(None)
        self._descriptor = libc.inotify_init1(os.O_CLOEXEC)
        libc.inotify_add_watch(self._descriptor, os.fsencode(folder), self.IN_CREATE)

    def wait_for(self, name):
        while select.select([self._descriptor], [], [], PATIENCE_S)[0]:
            events = os.read(self._descriptor, 1 << 16)
            while events:
                length = self.HEAD.unpack_from(events)[3]
                if events[self.HEAD.size:self.HEAD.size + length].rstrip(b"\0").decode() == name:
                    os.close(self._descriptor)
                    return
                events = events[self.HEAD.size + length:]
        raise AssertionError(f"waited in vain for {name}")


class Answers:
    """What the model says: mostly a program, now and then prose, an edit that matches nothing or a wrong program, by the
    prompt's digest. So the same search gets the same answers, however often it was killed."""

    def __init__(self):
        self.held = threading.Event()
        self._hold_from = None

    def hold(self, number):
        """From that request on there is no answer, and the first one sets `held`; None: all are answered."""
        self.held.clear()
        self._hold_from = number

    def __call__(self, number, body):
        if self._hold_from is not None and number >= self._hold_from:
            self.held.set()
            return None
        digest = hashlib.sha256(json.dumps(body["messages"]).encode()).digest()
        if digest[0] < 24:
            return reply("I would raise the digits.")
        if digest[0] < 48:
            return reply("<<<<<<< SEARCH\nnowhere\n=======\nk0 = 7\n>>>>>>> REPLACE\n")
        answer = program(*(byte % 8 for byte in digest[1:7]))
        return reply(f"```\n{answer}{'wrong' if digest[0] < 72 else ''}\n```\n")


class KilledSuiteTest(TasksTest):
    def killed_while_writing(self, name, *command):
        """The suite b.suite, killed when it makes this file; or it was faster, and has come to its end."""
        created = Created(self.folder / "b.suite")
        process = self.begin(*command)
        created.wait_for(name)
        process.kill()
        out, err = finish(process)
        self.assertIn(process.returncode, (0, -signal.SIGKILL), out + err)

    def test_with_the_tuner(self):
        whole = self.table(self.suite("a.suite"))
        self.interrupted_by(signal.SIGKILL, -signal.SIGKILL, task="a", call=1)
        self.killed_while_writing("suite.json.new", "suite", "tasks", "--out", "b.suite", *OPTIONS)
        self.interrupted_by(signal.SIGKILL, -signal.SIGKILL, task="b", call=10)
        self.killed_while_writing("levels.csv.new", "suite", "tasks", "--out", "b.suite", *OPTIONS)
        self.interrupted_by(signal.SIGKILL, -signal.SIGKILL, task="c", call=5)
        self.killed_while_writing("report.md.new", "suite", "tasks", "--out", "b.suite", *OPTIONS)
        self.assertEqual(self.table(self.suite("b.suite")), whole)
        self.assertEqual(self.files("b.suite"), self.files("a.suite"))

    def test_with_a_model(self):
        answers = Answers()
        model = self.serve(answers)

        def command(out):
            return ("suite", "tasks", "--out", out, *OPTIONS, *self.asking(model))

        def killed_after(calls):
            answers.hold(len(model.requests) + calls)
            process = self.begin(*command("b.suite"))
            wait_for(lambda: answers.held.is_set() or process.poll() is not None, "the model to be asked")
            process.kill()
            out, err = finish(process)
            self.assertEqual(process.returncode, -signal.SIGKILL, out + err)
            answers.hold(None)

        whole = self.table(self.succeed(*command("a.suite")))
        asked = len(model.requests)
        self.assertGreater(asked, 30)
        killed_after(0)
        killed_after(5)
        self.killed_while_writing("tasks.csv.new", *command("b.suite"))
        killed_after(3)
        killed_after(3)
        self.killed_while_writing("suite.json.new", *command("b.suite"))
        killed_after(6)
        resumed = self.succeed(*command("b.suite"))
        self.assertEqual(self.table(resumed), whole)
        self.assertEqual(self.files("b.suite"), self.files("a.suite"))
        prompts = [json.dumps(body["messages"]) for _, body in model.requests]
        self.assertEqual(set(prompts[asked:]), set(prompts[:asked]))  # the same search, and nothing else


if __name__ == "__main__":
    unittest.main()
