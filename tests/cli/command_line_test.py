"""The words of the command line: help, version, and what is said about wrong ones."""

import os
import subprocess
import unittest

from support import KERNELSMITH, CommandTest, kernelsmith, write_task

COMMANDS = ("init", "doctor", "evaluate", "run", "resume", "show", "prompt", "export", "report", "suite", "score",
            "serve", "help")


class CommandLineTest(CommandTest):
    def test_help_of_every_command(self):
        self.assertIn("Exit status", self.succeed("--help").stdout)
        for command in COMMANDS:
            text = self.succeed(command, "--help").stdout
            self.assertIn("Usage: kernelsmith " + command, text)
            self.assertIn(command, self.succeed("--help").stdout)

    def test_help_is_a_command_too(self):
        self.assertEqual(self.succeed("help").stdout, self.succeed("--help").stdout)
        self.assertEqual(self.succeed("help", "run").stdout, self.succeed("run", "--help").stdout)
        keys = self.succeed("help", "run.yaml").stdout
        for line in ("\nislands.count = 1\n", "\nsampler.opening, kind: tree = 5\n", "(a whole number from 1 to 1024)\n"):
            self.assertIn(line, keys)
        self.fail_with(2, "help", "rnu", says=["unknown command rnu", "did you mean run?"])

    def test_control_bytes_do_not_reach_the_terminal(self):
        text = self.fail_with(2, "show", "a\x1b[31m.run", says=["a\\x1b[31m.run"])
        self.assertNotIn("\x1b", text)

    def test_version(self):
        self.assertRegex(self.succeed("--version").stdout, r"^kernelsmith \d+\.\d+\.\d+\n$")

    def test_no_command_prints_the_help(self):
        done = kernelsmith()
        self.assertEqual(done.returncode, 2)
        self.assertIn("Subcommands:", done.stderr)

    def test_unknown_command(self):
        self.fail_with(2, "rnu", says=["unknown command rnu", "did you mean run?"])
        self.fail_with(2, "rnu", "a.run", "--kind", "sft", says=["unknown command rnu"])
        for command in ("agent", "dataset", "mcp"):
            self.fail_with(2, command, "a.run", "--kind", "sft", says=["python -m kernelsmith " + command])

    def test_what_is_wrong_in_a_line_is_named(self):
        run = ["run", "task"]
        self.refused((["run", "task", "--iteration", "5"], ["unknown option --iteration", "did you mean --iterations?"]),
                     (["run", "--sede=3"], ["unknown option --sede", "did you mean --seed?"]),
                     (["show"], ["RUN is required", "kernelsmith show --help"]),
                     (["memory"], ["list, show, forget, export, merge, learn", "kernelsmith memory --help"]),
                     (["memory", "list"], "STORE is required"),
                     *[(["init", "task", option, "cud"], [option + ": cud not in", "cuda", "python"])
                       for option in ("--backend", "--template")],
                     (["show", "a.run", "b.run"], "unexpected argument b.run"),
                     ([*run, "--iterations", "many"],
                      "--iterations: 'budgets.iterations' must be a whole number of at least 1, found 'many'"),
                     *[([*run, option, value], [option + ": ", f"found '{value}'", *says]) for option, value, *says in
                       (("--iterations", "0"), ("--iterations", "1e3"), ("--seed", "-1"), ("--workers", "1025", "from 1 to 1024"))],
                     ([*run, "--durability", "eternal"], ["--durability", "power"]))

    def test_init_without_a_folder_takes_an_empty_one(self):
        (self.folder / ".git").mkdir()
        self.assertIn("made the task .", self.succeed("init", "--backend", "command").stdout)
        self.fail_with(2, "init", "--backend", "python", says=["not empty", "kernelsmith init --backend python my_task"])
        self.fail_with(2, "init", ".", says=["exists already"])

    def test_a_duration_without_sense(self):
        write_task(self.folder / "task")
        self.refused((["run", "task", "--time", "60x"], ['"60x" is not a duration', "90s"]),
                     (["run", "task", "--time", "-5"], "not a duration"))

    def test_printed_commands_can_be_pasted(self):
        self.assertIn("kernelsmith evaluate 'a b' 'a b/seed.cpp'\n", self.succeed("init", "a b").stdout)

    def test_an_output_that_takes_nothing(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([KERNELSMITH, "--version"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("(io)", done.stderr)

    def test_an_export_that_cannot_be_written_or_whose_reader_goes(self):
        write_task(self.folder / "task")
        self.succeed("run", "task", "--iterations", "3", "--out", "a.run")
        reads, writes = os.pipe()
        os.close(reads)
        for output, status, errors in ((open("/dev/full", "w", encoding="utf-8"), 3, 1), (os.fdopen(writes), 0, 0)):
            with output:
                done = subprocess.run([KERNELSMITH, "export", self.folder / "a.run"], stdout=output, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr.count("error:")), (status, errors), done.stderr)

    def test_doctor_without_room_for_temporary_files(self):
        done = kernelsmith("doctor", env={"TMPDIR": str(self.folder / "nowhere")})
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn(f"TMPDIR={self.folder / 'nowhere'}", done.stdout)
        self.assertNotIn("reinstall", done.stdout)
        self.assertNotIn("tier of the scores", done.stdout)

    def test_doctor_and_worker_agree_about_the_fleet(self):
        fleet = next(check for check in self.json("doctor")["checks"] if check["name"] == "fleet")
        worker = kernelsmith("worker", "--nats", "nats://h:0", "--backend", "command")
        self.assertEqual("libnats" in fleet["detail"], "libnats" in worker.stderr)
        if fleet["status"] != "ok":
            self.assertIn("libnats-dev", fleet["remedy"])
            self.assertTrue(worker.stderr.startswith("error:"), worker.stderr)


if __name__ == "__main__":
    unittest.main()
