"""A run with a model is repeated from its journal: without the model, without a network, without measuring."""

import json
import os
import shutil
import subprocess
import unittest

from model_run_test import BETTER, BROKEN, KEY, Model, program, proposals, reply
from support import KERNELSMITH, PATIENCE_S, SCORE, CommandTest, write_task

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


class ReplayTest(CommandTest):
    def setUp(self):
        super().setUp()
        write_task(self.folder / "task")
        self.model = Model(SCRIPT)
        self.addCleanup(self.model.close)

    def record(self, *args, iterations=40, resumed=()):
        """A run of several workers with a model, resumed once, with those settings; its view."""
        model = ["--model", "scripted", "--base-url", self.model.url, "--set", "proposer.concurrency=3"]
        env = {"OPENAI_API_KEY": KEY}
        self.succeed("run", "task", "--out", "a.run", "--workers", "3", "--iterations", iterations // 2, *model, *args,
                     env=env)
        self.succeed("resume", "a.run", "--iterations", iterations, *resumed, env=env)
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

    def test_every_run_can_be_replayed_the_tuners_too(self):
        self.succeed("run", "task", "--out", "a.run", "--iterations", "60", "--workers", "3")
        view = self.json("show", "a.run")
        self.succeed("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        self.check_same(view, self.json("show", "b.run"))

    def test_it_goes_on_live_only_where_asked(self):
        view = self.record(iterations=16)
        asked = len(self.model.requests)
        self.succeed("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        done = self.succeed("resume", "b.run", "--iterations", "24")
        self.assertIn("the recording ends here", done.stdout)
        self.assertRegex(done.stdout, r"kernelsmith replay \S*a\.run --live")
        self.assertNotIn("kernelsmith resume", done.stdout, "it would end in the same way")
        self.assertEqual(len(self.model.requests), asked)
        env = {"OPENAI_API_KEY": KEY}
        self.succeed("replay", "a.run", "--out", "c.run", "--keep-evaluations", "--live", env=env)
        self.check_same(view, self.json("show", "c.run"))
        self.assertEqual(len(self.model.requests), asked)
        self.succeed("resume", "c.run", "--iterations", "24", env=env)
        self.assertEqual(self.json("show", "c.run")["counts"]["iterations"], 24)
        self.assertGreater(len(self.model.requests), asked)

    def test_a_recording_of_itself_ends(self):
        self.record(iterations=8)
        self.succeed("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        config = self.folder / "b.run/run.yaml"
        text = config.read_text().replace("live: false", "live: true")
        config.write_text(text.replace(str(self.folder / "a.run"), str(self.folder / "b.run")))
        self.fail_with(2, "resume", "b.run", "--iterations", "9", says=["repeats one that repeats one"])

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

    def test_a_noisy_evaluator_leads_elsewhere_and_ends_well(self):
        noise = "sum=$(($(od -An -N1 -tu1 /dev/urandom) % 40))\n"
        score = SCORE.replace("sum=0", noise) + "if [ $sum -gt 45 ]; then exit 3; fi\n"
        write_task(self.folder / "task", score_sh=score)
        self.record(iterations=24)
        for number in range(3):
            done = self.succeed("replay", "a.run", "--out", f"n{number}.run")
            self.assertNotIn("met an error", done.stderr)

    def test_deliberate_mistakes(self):
        self.record(iterations=8)
        self.fail_with(2, "replay", "task", says=["this is no run folder"], code="not_found")
        self.fail_with(2, "replay", "a.run", "--out", "a.run", says=["not empty"])
        write_task(self.folder / "other", seed_txt=program(1, 1, 1, 1, 1, 1))
        (self.folder / "kept.yaml").write_text("proposer: {kind: recording, run: a.run, evaluations: kept}\n")
        self.fail_with(2, "run", "other", "--config", "kept.yaml", says=["of another task", "a.run"])
        self.fail_with(2, "run", "task", "--config", "kept.yaml", "--set", "seed=5", "--out", "e.run",
                       says=["leaves its recording"], code="not_found")
        (self.folder / "bad.yaml").write_text("proposer: {kind: recording, recording: a.run}\n")
        self.fail_with(2, "run", "task", "--config", "bad.yaml", says=["bad.yaml:1"])
        written = (self.folder / "a.run" / "run.db").read_bytes()
        self.succeed("replay", "a.run", "--keep-evaluations", "--out", "f.run")
        self.assertEqual((self.folder / "a.run" / "run.db").read_bytes(), written, "a recording is not written")
        self.assertEqual(json.loads(self.succeed("show", "f.run", "--json").stdout)["task"]["name"], "hill")


if __name__ == "__main__":
    unittest.main()
