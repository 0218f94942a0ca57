"""What a candidate's process does stays its own: the planner answers, in time, and nothing is left behind."""

import os
import time

from support import Planner, candidate, forward, needs_torch


def processes_named(word: bytes) -> list[str]:
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                if word in file.read():
                    found.append(entry)
        except OSError:
            pass
    return found


@needs_torch
class Hostile(Planner):
    def tearDown(self):
        # Whatever the child did, the next candidate is planned.
        self.plan(forward("return self.linear(x)"))

    def test_time_limit(self):
        began = time.monotonic()
        self.refusal("while True: pass", "timed_out", timeout_s=8)
        self.assertLess(time.monotonic() - began, 60)

    def test_children_are_ended(self):
        word = f"kernelsmith-test-{os.getpid()}"
        self.refusal(candidate(f"""
            import os, subprocess, time
            for daemon in (False, True):
                if os.fork() == 0:
                    if daemon:
                        os.setsid()
                        if os.fork(): os._exit(0)
                    os.execvp("sh", ["sh", "-c", "sleep 1000; : {word}"])
            for pid in range(100):
                if os.fork() == 0: time.sleep(1000)
            time.sleep(1)
            raise ValueError
        """), "plan_failed")
        self.assertEqual(processes_named(word.encode()), [])

    def test_a_grandchild_that_holds_the_pipe_delays_nothing(self):
        began = time.monotonic()
        self.refusal(candidate("""
            import os, time
            if os.fork() == 0: time.sleep(1000)
            os._exit(0)
        """), "plan_failed", timeout_s=120)
        self.assertLess(time.monotonic() - began, 100)

    def test_prints_go_nowhere(self):
        self.plan(forward("return self.linear(x)", "import os\nfor _ in range(100): print('x' * 1000000); os.write(2, b'y' * 1000000)"))

    def test_ending_its_process(self):
        for text in ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "import os; os.abort()", "exit()",
                     "import os; os._exit(0)", "import ctypes; ctypes.string_at(0)"):
            with self.subTest(text):
                self.refusal(text, "plan_failed", timeout_s=60)

    def test_garbage_in_the_pipe(self):
        write = "import os, struct\nfor fd in range(3, 64):\n    try: os.write(fd, {})\n    except OSError: pass\n"
        for what, bytes_ in {
            "noise": "b'\\xff' * 1000",
            "no object": "struct.pack('<IQ', 2, 0) + b'[]'",
            "a plan that is too large": "struct.pack('<IQ', 2, 1 << 40) + b'{}'",
            "an error of the task's": """struct.pack('<IQ', 12, 0) + b'{"error": 1}'""",
            "a reply of other fields": """struct.pack('<IQ', 11, 0) + b'{"ok": true}'""",
        }.items():
            with self.subTest(what):
                error = self.refusal(write.format(bytes_), "plan_failed", timeout_s=60)
                self.assertEqual(error["stage"], "plan")

    def test_files_are_bounded_and_removed(self):
        self.refusal("with open('/tmp/kernelsmith-%d', 'wb') as f:\n  import os; os.unlink(f.name)\n"
                     "  for _ in range(100): f.write(b'0' * (1 << 20))\n" % os.getpid(), "plan_failed")
