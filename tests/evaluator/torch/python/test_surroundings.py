"""What a child could leave for the next one is removed, or the planner ends."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import unittest

from support import Planner, forward, needs_torch
from kernelsmith_torch.surroundings import Surroundings


class Folders(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("kept"))
        with open(self.path("kept", "file"), "w", encoding="utf-8") as file:
            file.write("a")
        self.surroundings = Surroundings([self.folder])

    def path(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def test_what_was_added_is_removed(self) -> None:
        before = sorted(os.walk(self.folder))
        for place in ((), ("kept",)):
            os.makedirs(self.path(*place, "new", "a", "b"))
            open(self.path(*place, "new", "a", "file"), "w").close()
            os.chmod(self.path(*place, "new", "a"), 0)
            os.symlink("/etc", self.path(*place, "link"))
            os.mkfifo(self.path(*place, "pipe"))
        self.assertTrue(self.surroundings.restore())
        self.assertEqual(sorted(os.walk(self.folder)), before)
        self.assertTrue(os.path.exists("/etc"))

    def test_marks_on_folders_are_taken_back(self) -> None:
        for path in (self.folder, self.path("kept")):
            os.utime(path, (1, 2))
            os.chmod(path, 0o700 if path == self.path("kept") else 0o755)
        self.assertTrue(self.surroundings.restore())
        self.assertNotEqual(os.stat(self.folder).st_mtime, 2)

    def test_what_cannot_be_taken_back_is_told(self) -> None:
        os.utime(self.path("kept", "file"), (1, 2))
        self.assertFalse(self.surroundings.restore())
        surroundings = Surroundings([self.folder])
        os.unlink(self.path("kept", "file"))
        self.assertFalse(surroundings.restore())

    def test_depth_does_not_hide(self) -> None:
        here = os.open(self.folder, os.O_RDONLY)
        for _ in range(3000):
            os.mkdir("d", dir_fd=here)
            deeper = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
        os.close(here)
        told = self.surroundings.restore()
        self.assertEqual(told, not os.path.exists(self.path("d")))
        subprocess.run(["rm", "-rf", self.path("d")], check=True)

    def test_settings_of_the_process(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
        try:
            self.assertFalse(self.surroundings.restore())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertTrue(self.surroundings.restore())


@needs_torch
class Planners(Planner):
    def test_who_changes_the_planner_ends_it(self) -> None:
        text = "import os; os.nice(3); os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])"
        self.plan(forward("return self.linear(x)", text))
        self.assertIsNone(self.process.poll())
        text = "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (5, -1))"
        with self.assertRaises(TypeError):  # there is no reply
            self.plan(forward("return self.linear(x)", text))
        self.assertEqual(self.process.wait(30), 4)
