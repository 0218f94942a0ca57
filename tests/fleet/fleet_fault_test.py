"""A fleet under fire: workers, server and coordinator are killed with SIGKILL, and streams deleted, while a run goes on.

    fleet_fault_test.py [--evaluations N] [--workers N] [--worker-kills N] [--server-kills N] [--coordinator-kills N]
                        [--deletions N] [--seed N]
        (with KERNELSMITH in the environment; exits with 77 if there is no nats-server)

Three workers evaluate a `command` task of 20 ms; faults come at even distances of the journal's growth, in an order drawn from
the seed. A killed worker is replaced, a killed server started again on its disk, a killed coordinator resumed. Checked: no
evaluation that was reported is lost, changed or there twice, every program is judged, none is given up as one that lost
workers, and the archive that the run ended with is that of its journal, shown and replayed. Nobody speaks of what is not the
matter: a limit or a full disk.
"""

import argparse
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from support import KERNELSMITH, PATIENCE_S, SCORE, kernelsmith, start, wait_for, write_task  # noqa: E402
from nats_server import NatsServer  # noqa: E402

WORKERS = 3
EVENTS_OF_EVALUATION = 3  # a ticket, a proposal, an evaluation
TICK_S = 0.02
STREAMS = ["JOBS", "RESULTS", "TASKS", "FLEET", "BEGUN", "WORKERS"]


class Fleet:
    """The workers, each in a process of its own."""

    def __init__(self, url, folder):
        self._url, self._folder = url, folder
        self._started = 0
        self.workers = [self._start() for _ in range(WORKERS)]

    def _start(self):
        self._started += 1
        with open(self._folder / f"worker-{self._started}.log", "w") as log:
            return subprocess.Popen([KERNELSMITH, "worker", "--nats", self._url, "--backend", "command", "--slots", "2", "--ack-wait", "1s"],
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill_one(self, which):
        self.workers[which].kill()
        self.workers[which].wait()
        self.workers[which] = self._start()

    def end(self):
        """In order; what they print at their end."""
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            if worker.wait(timeout=PATIENCE_S) != 0:
                sys.exit(f"a worker ended with status {worker.returncode}")

    def kill(self):
        for worker in self.workers:
            worker.kill()


class Coordinator:
    """The run, resumed after each kill."""

    def __init__(self, folder, url, options):
        self.run = folder / "a.run"
        self._process = start("run", write_task(folder / "task", score_sh=SCORE + "sleep 0.02\n"), "--out", self.run,
                              "--evaluations", options.evaluations, "--workers", options.workers,
                              "--set", f"evaluator.fleet.nats={url}", "--set", "limits.confirm=false")
        wait_for(lambda: self.events() > 0, "the run's first event")

    def events(self):
        try:
            with sqlite3.connect(f"file:{self.run}/run.db?mode=ro", uri=True) as database:
                return database.execute("SELECT COALESCE(MAX(position), 0) FROM events").fetchone()[0]
        except sqlite3.Error:
            return 0

    def ended(self):
        return self._process.poll() is not None

    def kill(self):
        """What it had reported must be there afterwards, and go on being there."""
        self._process.kill()
        self._process.communicate()
        told = read_told(self.run)
        self._process = start("resume", self.run)
        return told

    def finish(self):
        out, err = self._process.communicate(timeout=PATIENCE_S)
        if self._process.returncode != 0:
            sys.exit(f"the run ended with status {self._process.returncode}:\n{out}\n{err}")
        return out, err

    def stop(self):
        self._process.kill()


def read_told(run, whole=False):
    """Every evaluation of the journal, by its ticket. `whole`: no program may lack one."""
    exported = kernelsmith("export", run)
    if exported.returncode != 0:
        sys.exit(f"export failed: {exported.stderr}")
    told, attempts, programs = {}, set(), set()
    for line in map(json.loads, exported.stdout.splitlines()):
        if line["type"] == "program":
            programs.add(line["id"])
        if line["type"] != "evaluation":
            continue
        attempt = (line["program"], line["attempt"])
        if line["ticket"] in told or attempt in attempts:
            sys.exit(f"told twice: ticket {line['ticket']}, program and attempt {attempt}")
        told[line["ticket"]] = line
        attempts.add(attempt)
    unjudged = programs - {line["program"] for line in told.values()}
    if whole and unjudged:
        sys.exit(f"programs without an evaluation: {sorted(unjudged)[:10]}")
    return told


def check_kept(before, after):
    for ticket, line in before.items():
        if after.get(ticket) != line:
            sys.exit(f"ticket {ticket} was told and is lost or changed: {line} became {after.get(ticket)}")


def check_end(coordinator, out, options):
    view = json.loads(kernelsmith("show", coordinator.run, "--json").stdout)
    if view["used_up"] != "evaluations":
        sys.exit(f"the run ended before its budget was used up: {view['ended']}")
    if view["dead_letters"]:
        sys.exit(f"given up, though no program kills its worker: {view['dead_letters']}")
    ended_with = out.split("digest ")[1].split()[0]
    if not view["archive"]["digest"].startswith(ended_with):
        sys.exit(f"the run ended with archive {ended_with}, its journal gives {view['archive']['digest']}")
    again = coordinator.run.parent / "again.run"
    replayed = kernelsmith("replay", coordinator.run, "--keep-evaluations", "--out", again)
    if f"digest {ended_with}" not in replayed.stdout:
        sys.exit(f"the replay gives another archive than {ended_with}:\n{replayed.stdout}\n{replayed.stderr}")
    return ended_with


def check_words(folder):
    """What the workers said."""
    for log in folder.glob("worker-*.log"):
        for line in log.read_text().splitlines():
            if "at its limit" in line or "disk" in line or "no room" in line:
                sys.exit(f"{log.name} gives a reason that is not the true one: {line}")


def faults_of(options, chance):
    faults = ["worker"] * options.worker_kills + ["server"] * options.server_kills + ["coordinator"] * options.coordinator_kills
    faults += STREAMS * options.deletions
    chance.shuffle(faults)
    return faults


def torment(coordinator, fleet, server, options, chance):
    """Kills until nothing is left to kill; what was reported at each kill of the coordinator."""
    faults = faults_of(options, chance)
    distance = EVENTS_OF_EVALUATION * options.evaluations // (len(faults) + 2)
    told = {}
    for number, fault in enumerate(faults, 1):
        while coordinator.events() < number * distance and not coordinator.ended():
            time.sleep(TICK_S)
        if coordinator.ended():
            out, err = coordinator.finish()
            sys.exit(f"the run ended before the {number}th fault:\n{out}\n{err}")
        if fault == "worker":
            fleet.kill_one(chance.randrange(WORKERS))
        elif fault == "server":
            server.kill()
            server.start()
        elif fault in STREAMS:
            server.request(f"$JS.API.STREAM.DELETE.KERNELSMITH_{fault}")
        else:
            after = coordinator.kill()
            check_kept(told, after)
            told = after
    return told


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--workers", type=int, default=6, help="evaluations in flight")
    parser.add_argument("--worker-kills", type=int, default=3)
    parser.add_argument("--server-kills", type=int, default=1)
    parser.add_argument("--coordinator-kills", type=int, default=1)
    parser.add_argument("--deletions", type=int, default=0, help="of each stream")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not NatsServer.installed():
        print("nats-server is not installed")
        sys.exit(77)
    chance = random.Random(options.seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kernelsmith-fleet-") as name, NatsServer() as server:
        folder = Path(name)
        fleet = Fleet(server.url, folder)
        coordinator = Coordinator(folder, server.url, options)
        try:
            told = torment(coordinator, fleet, server, options, chance)
            out, _ = coordinator.finish()
            after = read_told(coordinator.run, whole=True)
            check_kept(told, after)
            digest = check_end(coordinator, out, options)
            fleet.end()
            check_words(folder)
        finally:
            coordinator.stop()
            fleet.kill()
    print(f"{len(after)} evaluations in {time.monotonic() - began:.0f} s under {options.worker_kills} kills of workers, "
          f"{options.server_kills} of the server, {options.coordinator_kills} of the coordinator, {options.deletions} deletions of each stream: none lost, none doubled; archive {digest}")


if __name__ == "__main__":
    main()
