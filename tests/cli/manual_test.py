"""A run whose model is a folder: requests as files, answered by files beside them, through a kill as well."""

import json
import signal
import threading
import unittest

from model import WINNER, program, proposals
from support import TaskTest, finish, wait_for


class Person:
    """Answers each request once, with another program, and remembers what was asked."""

    def __init__(self, queue, answer):
        self.queue, self.answer = queue, answer
        self.answered = {}  # by ticket: the request
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.ended.wait(0.02):
            for path in sorted(self.queue.glob("*.request.json")):
                try:
                    request = json.loads(path.read_text())
                except FileNotFoundError:
                    continue
                ticket = request["ticket"]
                if ticket in self.answered or list(self.queue.glob(path.name.split(".")[0] + ".reply.*")):
                    continue
                # What was answered is put away, the request before its reply.
                if not path.exists():
                    continue
                self.answered[ticket] = request
                name, text = self.answer(ticket)
                fresh = self.queue / "being-written"
                fresh.write_text(text)
                fresh.rename(path.with_name(path.name.replace("request.json", name)))

    def close(self):
        self.ended.set()
        self.thread.join()


def programs(ticket):
    text = WINNER if ticket == 5 else program(ticket % 7, ticket % 5, 1, 2, 3, ticket % 8)
    if ticket % 2:
        return "reply.json", json.dumps({"text": f"```\n{text}```", "usage": {"input_tokens": 5, "output_tokens": 7}})
    return "reply.txt", f"As you wish:\n```\n{text}```\n"


class ManualTest(TaskTest):
    def setUp(self):
        super().setUp()
        self.queue = self.folder / "queue"

    def requests(self):
        return sorted(self.queue.glob("*.request.json"))

    def asks(self, *more, open_requests=1):
        """The run a.run, which has asked that many."""
        process = self.begin("run", "task", "--out", "a.run", "--manual", "queue", "--set", f"proposer.open_requests={open_requests}", *more)
        wait_for(lambda: len(self.requests()) == open_requests, "the requests")
        return process

    def person(self, answer=programs):
        person = Person(self.queue, answer)
        self.addCleanup(person.close)
        return person

    def test_a_folder_is_the_model(self):
        self.queue.mkdir()
        person = self.person()
        # The tuner's tickets would make it chance which ones are the folder's.
        self.succeed("run", "task", "--out", "a.run", "--iterations", "8", "--manual", "queue", "--set", "limits.tunings=0")
        self.assertEqual(self.json("show", "a.run")["best"]["evaluation"]["fitness"], 42)
        request = person.answered[5]
        self.assertEqual(request["task"], "hill")
        self.assertIn("k0 = ", request["messages"][-1]["content"])
        paid = [p["cost"]["output_tokens"] for p in proposals(self.folder / "a.run")]
        self.assertIn(7, paid, "usage that was reported is kept")
        self.assertEqual(self.requests(), [], "nobody waits any more")
        self.assertEqual(len(list(self.queue.glob("answered/*.request.json"))), len(person.answered))

    def test_a_request_shows_what_came_of_the_one_before(self):
        self.queue.mkdir()
        open_at_once = []

        def answer(ticket):
            requests = [path.name.split(".")[0] for path in self.requests()]
            # One that is answered is put away once the journal has it, which can be after the next one is asked.
            open_at_once.append(sum(not list(self.queue.glob(f"{name}.reply.*")) for name in requests))
            return programs(ticket)

        self.person(answer)
        self.succeed("run", "task", "--out", "a.run", "--iterations", "5", "--manual", "queue")
        self.assertEqual(set(open_at_once), {1})

    def test_an_answered_request_is_not_asked_again_after_a_kill(self):
        self.queue.mkdir()
        # Nobody is there: both requests stay open, and the process is killed over them.
        process = self.asks("--iterations", "6", open_requests=2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        first, second = self.requests()
        asked, anew = (json.loads(path.read_text())["ticket"] for path in (first, second))
        first.with_name(first.name.replace("request.json", "reply.txt")).write_text(f"```\n{WINNER}```")
        person = self.person()
        person.answered[anew] = None  # it must be asked anew to be answered
        process = self.begin("resume", "a.run")
        wait_for(lambda: len(person.answered) >= 4, "the run")
        del person.answered[anew]
        out, err = finish(process)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertNotIn(asked, person.answered)
        shown = self.json("show", "a.run")
        self.assertEqual((shown["best"]["program"], shown["counts"]["iterations"]), (asked, 6))

    def test_what_is_no_reply_is_complained_about(self):
        process = self.asks("--iterations", "1")
        (request,) = self.requests()
        reply = request.with_name(request.name.replace("request", "reply"))
        reply.write_text('{"txt": "a program"}')
        complaint = request.with_name(request.name.replace("request.json", "error.txt"))
        wait_for(complaint.exists, "the run")
        self.assertIn('"txt" is not known', complaint.read_text())
        reply.write_text(json.dumps({"text": f"```\n{WINNER}```"}))
        out, err = finish(process)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.json("show", "a.run")["best"]["evaluation"]["fitness"], 42)

    def test_a_stop_withdraws_the_requests(self):
        process = self.asks("--iterations", "9", open_requests=2)
        self.refused((["run", "task", "--iterations", "9", "--manual", "queue"], "a folder of its own", "busy"))
        process.send_signal(signal.SIGINT)
        _, errors = finish(process)
        self.assertEqual(process.returncode, 130)
        self.assertIn(f"requests lie in {self.queue}", errors)
        self.assertEqual(self.requests(), [])

    def test_deliberate_mistakes(self):
        (self.folder / "file").write_text("")
        self.refused((["run", "task", "--manual", "queue", "--model", "m"], ["one proposer", "--manual"]),
                     (["run", "task", "--manual", "file"], "file"),
                     (["run", "task", "--set", "proposer.kind=manual"], "folder"))


if __name__ == "__main__":
    unittest.main()
