"""The commands of the fleet: worker, runs that name a server, and the scripts of examples/fleet."""

import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from support import PATIENCE_S, CommandTest, wait_for, write_task  # noqa: E402
from nats_server import NatsServer  # noqa: E402

PASSWORD = "s3cret-of-the-fleet-42"


class FleetCommandTest(CommandTest):
    ARGUMENTS = ()

    def setUp(self):
        super().setUp()
        self.server = NatsServer(*self.ARGUMENTS)
        self.addCleanup(self.server.close)
        write_task(self.folder / "task")
        self.fleet = ["--set", f"evaluator.fleet.nats={self.server.url}"]

    def worker(self, *args, url=None):
        return self.begin("worker", "--nats", url or self.server.url, "--backend", "command", "--ack-wait", "1s", *args)

    def joined(self, *args, **options):
        """A worker that has joined the fleet."""
        process = self.worker(*args, **options)
        self.assertIn("command", process.stderr.readline())
        self.assertIn("joined the fleet", process.stderr.readline())
        return process

    def run_yaml(self, run="a.run"):
        return (self.folder / run / "run.yaml").read_text()


class RunTest(FleetCommandTest):
    def test_a_run_uses_the_fleet_and_goes_on_without_it(self):
        worker = self.joined()
        self.assertIn("ok       evaluator", self.succeed("run", "task", "--dry-run", *self.fleet).stdout)
        self.succeed("run", "task", "--out", "a.run", "--evaluations", 20, *self.fleet)
        self.assertIn(f"nats: {self.server.url}", self.run_yaml())
        self.succeed("resume", "a.run", "--evaluations", 30)
        worker.send_signal(signal.SIGTERM)
        out, err = worker.communicate(timeout=PATIENCE_S)
        self.assertEqual(worker.returncode, 0, err)
        self.assertRegex(out, r"worker .*: \d\d evaluated, 0 failed, 0 given up")
        self.succeed("resume", "a.run", "--evaluations", 40, "--set", "evaluator.fleet.nats=none")
        self.assertNotIn("fleet", self.run_yaml())

    def test_evaluate_measures_anew_each_time(self):
        worker = self.joined()
        for _ in range(2):
            self.assertEqual(self.json("evaluate", "task", "task/seed.txt", *self.fleet)["fitness"], 0)
        worker.send_signal(signal.SIGTERM)
        self.assertIn("2 evaluated", worker.communicate(timeout=PATIENCE_S)[0])

    def test_wrong_settings_and_workers_are_told(self):
        worker = ["worker", "--nats", self.server.url]
        self.refused((["run", "task", *self.fleet, "--set", "evaluator.sandbox=none"],
                      ["sandbox", "kernelsmith worker --set evaluator.sandbox=VALUE"], "bad_input"),
                     ([*worker, "--backend", "command", "--set", "evaluator.memori_mib=5"], "memory_mib", "bad_input"),
                     ([*worker, "--set", "workers=5"], "evaluator.compiler", "invalid_argument"),
                     (["worker", "--nats", "gpu-host"], "nats://HOST:4222", "invalid_argument"),
                     (["worker", "--nats", "file:nowhere"], "nowhere", "not_found"))
        for setting, code in ((f"=nats:/smith:{PASSWORD}@h", "bad_input"), (f": nats://smith:{PASSWORD}@h", "invalid_argument")):
            text = self.fail_with(2, "run", "task", "--set", "evaluator.fleet.nats" + setting, says=["evaluator.fleet.nats"], code=code)
            self.assertNotIn(PASSWORD, text, "a wrong URL is not repeated")

    def test_a_worker_waits_for_its_server(self):
        worker = self.worker(url="nats://127.0.0.1:1")
        self.assertIn("command", worker.stderr.readline())
        self.assertIn("waiting for the server at nats://127.0.0.1:1", worker.stderr.readline())

    def test_a_program_that_loses_workers_is_a_dead_letter(self):
        mark = self.folder / "begun"
        write_task(self.folder / "deadly", score_sh=f"echo >>{mark}\nexec sleep 20\n")
        run = self.begin("run", "deadly", "--out", "a.run", "--evaluations", 3, *self.fleet)
        for times in range(1, 5):
            worker = self.joined("--set", "evaluator.sandbox=none")
            wait_for(lambda: mark.exists() and len(mark.read_text()) == times, f"the {times}. worker's evaluation")
            worker.kill()
            worker.wait()
        self.joined("--set", "evaluator.sandbox=none")
        out, err = run.communicate(timeout=PATIENCE_S)
        self.assertIn("worker_lost", err)
        self.assertIn("find out why the workers end", err)
        self.assertEqual(len(mark.read_text()), 4)
        self.assertIn("dead letters: 1 program", self.succeed("show", "a.run").stdout)
        view = self.json("show", "a.run")
        self.assertEqual(view["dead_letters"], [0])
        [failure] = view["failures"]
        self.assertEqual((failure["stage"], failure["code"], failure["count"]), ("run", "worker_lost", 1))

    def test_a_second_signal_ends_a_worker_at_once(self):
        mark = self.folder / "begun"
        write_task(self.folder / "slow", score_sh=f"echo >>{mark}\nexec sleep 20\n")
        worker = self.joined("--set", "evaluator.sandbox=none")
        self.begin("run", "slow", "--out", "a.run", "--evaluations", 3, *self.fleet)
        wait_for(mark.exists, "the evaluation")
        worker.send_signal(signal.SIGTERM)
        self.assertIn("finishing the jobs under way", worker.stderr.readline() + worker.stderr.readline())
        self.assertIsNone(worker.poll())
        while worker.poll() is None:  # within a second of the first it is the same request
            worker.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        self.assertEqual(worker.returncode, 130)


class SecretTest(FleetCommandTest):
    ARGUMENTS = ("--user", "smith", "--pass", PASSWORD)

    def with_password(self):
        return self.server.url.replace("://", f"://smith:{PASSWORD}@")

    def everything_in(self, folder):
        return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())

    def test_a_password_is_not_kept(self):
        self.joined(url=self.with_password())
        fleet = ["--set", f"evaluator.fleet.nats={self.with_password()}"]
        done = self.succeed("run", "task", "--out", "a.run", "--evaluations", 5, *fleet)
        self.assertIn("evaluator.fleet.nats=nats://USER:PASSWORD@", done.stdout)
        refused = self.fail_with(3, "resume", "a.run", "--evaluations", 9, says=["credentials"], code="permission")
        again = self.succeed("resume", "a.run", "--evaluations", 9, *fleet)
        write_task(self.folder / "tasks" / "one")
        suite = self.succeed("suite", "tasks", "--set", "budgets.evaluations=5", "--out", "results", *fleet)
        for text in (done.stdout, done.stderr, refused, again.stdout, again.stderr, suite.stdout, suite.stderr):
            self.assertNotIn(PASSWORD, text)
        for folder in ("a.run", "results"):
            self.assertNotIn(PASSWORD.encode(), self.everything_in(self.folder / folder))

    def test_a_folder_of_somebody_else_gets_no_secret(self):
        (self.folder / "nats").write_text(self.with_password() + "\n")
        (self.folder / "nats").chmod(0o600)
        self.joined(url=self.with_password())
        in_variable = self.server.url.replace("://", "://smith:${FLEET_PASSWORD}@")
        for url, kept, env in ((in_variable, "${FLEET_PASSWORD}", {"FLEET_PASSWORD": PASSWORD}),
                               (f"file:{self.folder / 'nats'}", f"nats: file:{self.folder / 'nats'}", {})):
            with self.subTest(url):
                shutil.rmtree(self.folder / "a.run", ignore_errors=True)
                vouched = ["--set", f"evaluator.fleet.nats={url}"]
                done = self.succeed("run", "task", "--out", "a.run", "--evaluations", 5, *vouched, env=env)
                self.assertIn(kept, self.run_yaml())
                self.assertIn("evaluator.fleet.nats=", done.stdout)
                self.assertNotIn(PASSWORD.encode(), self.everything_in(self.folder / "a.run"))
                self.assertNotIn(PASSWORD, done.stdout + done.stderr)
                shutil.copytree(self.folder / "a.run", self.folder / "b.run", dirs_exist_ok=True)
                self.fail_with(2, "resume", "b.run", "--evaluations", 9, says=["would be shown your credentials"],
                               code="invalid_argument", env=env)
                self.succeed("resume", "a.run", "--evaluations", 9, *vouched, env=env)

    def test_without_the_password_it_is_refused(self):
        self.fail_with(3, "run", "task", *self.fleet, says=["credentials"], code="permission")
        self.fail_with(3, "worker", "--nats", self.server.url, "--backend", "command", says=["credentials"], code="permission")


class ExamplesTest(unittest.TestCase):
    FOLDER = Path(__file__).parents[2] / "examples/fleet"

    def test_scripts_can_be_read_by_a_shell(self):
        for shell, name in (("bash", "slurm.sh"), ("sh", "ssh.sh")):
            self.assertEqual(subprocess.run([shell, "-n", self.FOLDER / name]).returncode, 0)

    def test_ssh_starts_a_worker_on_each_host(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder) / "ssh"
            fake.write_text('#!/bin/sh\necho "$1 $2" >>"$0.log"\n')
            fake.chmod(0o755)
            subprocess.run([self.FOLDER / "ssh.sh", "gpu1", "me@gpu2"], check=True, stdout=subprocess.DEVNULL,
                           env={"PATH": f"{folder}:/usr/bin:/bin", "NATS": "nats://queue:4222"})
            calls = (fake.parent / "ssh.log").read_text().splitlines()
        self.assertEqual([call.split()[0] for call in calls], ["gpu1", "me@gpu2"])
        for call in calls:
            self.assertIn("kernelsmith worker --nats 'nats://queue:4222'", call)


if __name__ == "__main__":
    if not NatsServer.installed():
        print("nats-server is not installed")
        sys.exit(77)
    unittest.main()
