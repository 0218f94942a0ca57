"""A run with a model is repeated from its journal: without the model, without a network, without measuring."""

import os
import shutil
import subprocess
import unittest

from model import BETTER, BROKEN, ModelTest, program, proposals, reply
from support import KERNELSMITH, PATIENCE_S, write_task

# Right, wrong, broken, refused, cut off; and errors between them.
SCRIPT = [
    reply(f"```\n{BETTER}```"),
    (500, {"error": {"message": "not now"}}),
    reply("I would raise the digits."),
    reply("```txt\nk0 = 7", finish="length"),
    reply(f"```\n{BROKEN}```"),
    reply("", finish="content_filter"),
    reply("<<<<<<< SEARCH\nk1 = 0\n=======\nk1 = 5\n>>>>>>> REPLACE\n"),
    *[reply(f"```\n{program(i % 8, 7 - i % 8, i % 3, i % 5, i % 7, i // 8)}```") for i in range(30)],
]

# Where processes see no network interface but an idle loopback.
JAILS = [["unshare", "-n"], ["unshare", "-rn"], ["bwrap", "--dev-bind", "/", "/", "--unshare-net"]]


def jail():
    for prefix in JAILS:
        if shutil.which(prefix[0]) and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
            return prefix
    return None


class ReplayTest(ModelTest):
    def setUp(self):
        super().setUp()
        self.model = self.serve(SCRIPT)

    def record(self, *args, iterations=40, resumed=()):
        """A run of several workers with a model, resumed once, with those settings; its view."""
        self.succeed("run", "task", "--out", "a.run", "--workers", "3", "--iterations", iterations // 2, *self.asking(self.model),
                     "--set", "proposer.concurrency=3", *args)
        self.succeed("resume", "a.run", "--iterations", iterations, *resumed)
        return self.json("show", "a.run")

    def check_same(self, view, again):
        self.assertEqual(again["archive"]["digest"], view["archive"]["digest"])
        self.assertEqual(again["counts"], view["counts"])
        self.assertEqual(again["best"]["evaluation"]["fitness"], view["best"]["evaluation"]["fitness"])
        self.assertEqual(again["ended"], view["ended"])

    def test_the_same_archive_without_a_network(self):
        view = self.record(resumed=["--set", "operators=[{operator: rewrite, model: scripted}]",
                                    "--set", "sampler={kind: mixture}"])
        self.assertGreater(view["counts"]["refused"], 0)
        self.assertGreater(view["counts"]["repairs"], 0)
        prefix = jail()
        if not prefix:
            self.skipTest("no network namespace can be made here: neither unshare nor bubblewrap may")
        asked = len(self.model.requests)
        port = self.model.server.server_address[1]
        reach = [*prefix, "python3", "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"]
        self.assertNotEqual(subprocess.run(reach, capture_output=True).returncode, 0, "there is a network in there")
        env = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
        for out, flags in (("b.run", ["--keep-evaluations"]), ("c.run", [])):
            done = subprocess.run([*prefix, KERNELSMITH, "replay", "a.run", "--out", out, *flags], cwd=self.folder,
                                  env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("cost     as recorded: ", done.stdout)
            self.assertEqual("of the wall time" in done.stdout, not flags, "what was not done is not timed")
            self.check_same(view, self.json("show", out))
        self.assertEqual(len(self.model.requests), asked, "the model was asked again")
        self.assertEqual(proposals(self.folder / "b.run"), proposals(self.folder / "a.run"), "costs and refusals too")

    def test_kept_evaluations_need_no_tools_and_deterministic_runs_replay_too(self):
        view = self.record("--deterministic")
        self.succeed("replay", "a.run", "--out", "b.run", "--keep-evaluations", env={"PATH": "/nowhere"})
        self.check_same(view, self.json("show", "b.run"))
        self.succeed("replay", "b.run", "--out", "c.run", "--keep-evaluations")  # a replay is a run
        self.check_same(view, self.json("show", "c.run"))

    def test_it_goes_on_live_only_where_asked(self):
        view = self.record(iterations=16)
        asked = len(self.model.requests)
        self.succeed("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        done = self.succeed("resume", "b.run", "--iterations", "24")
        self.assertIn("the recording ends here", done.stdout)
        self.assertRegex(done.stdout, r"kernelsmith replay \S*a\.run --live")
        self.assertNotIn("kernelsmith resume", done.stdout, "it would end in the same way")
        self.assertEqual(len(self.model.requests), asked)
        self.succeed("replay", "a.run", "--out", "c.run", "--keep-evaluations", "--live")
        self.check_same(view, self.json("show", "c.run"))
        self.assertEqual(len(self.model.requests), asked)
        self.succeed("resume", "c.run", "--iterations", "24")
        self.assertEqual(self.json("show", "c.run")["counts"]["iterations"], 24)
        self.assertGreater(len(self.model.requests), asked)

    def test_what_the_recording_lacks_is_a_refusal(self):
        self.record(iterations=8)
        (self.folder / "again.yaml").write_text("proposer: {kind: recording, run: a.run}\nseed: 5\n")
        done = self.succeed("run", "task", "--out", "b.run", "--config", "again.yaml", "--iterations", "20")
        self.assertEqual(done.stderr.count("leaves its recording"), 1)
        self.assertRegex(done.stdout, r"refused  .*exhausted \d+")
        self.assertNotIn("kernelsmith resume", done.stdout)
        shown = self.json("show", "b.run")
        self.assertEqual(shown["counts"]["iterations"], 20)
        [lacking] = [refusal for refusal in shown["refusals"] if refusal["code"] == "exhausted"]
        self.assertIn("holds no answer to ticket", lacking["detail"])
        self.assertIn(lacking["detail"], self.succeed("show", "b.run").stdout)

    def test_deliberate_mistakes(self):
        self.record(iterations=8)
        write_task(self.folder / "other", seed_txt=program(1, 1, 1, 1, 1, 1))
        (self.folder / "kept.yaml").write_text("proposer: {kind: recording, run: a.run, evaluations: kept}\n")
        (self.folder / "bad.yaml").write_text("proposer: {kind: recording, recording: a.run}\n")
        kept = ["--config", "kept.yaml"]
        self.refused((["replay", "task"], "this is no run folder: it has no run.yaml", "not_found"),
                     (["replay", "a.run", "--out", "a.run"], "not empty"),
                     (["run", "other", *kept], ["of another task", "a.run"]),
                     (["run", "task", *kept, "--set", "seed=5", "--out", "e.run"], "leaves its recording", "not_found"),
                     (["run", "task", "--config", "bad.yaml"], "bad.yaml:1"))
        written = (self.folder / "a.run" / "run.db").read_bytes()
        self.succeed("replay", "a.run", "--keep-evaluations", "--out", "f.run")
        self.assertEqual((self.folder / "a.run" / "run.db").read_bytes(), written, "a recording is not written")
        self.assertEqual(self.json("show", "f.run")["task"]["name"], "hill")


if __name__ == "__main__":
    unittest.main()
