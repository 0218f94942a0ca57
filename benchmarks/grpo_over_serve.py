"""GRPO in TRL over `kernelsmith serve`, while 5 % of the requests fail on purpose: the reward rises, and no failure is a 0.

    grpo_over_serve.py --kernelsmith build/release/bin/kernelsmith --out DIR [--steps 100] [--seconds N] [--task FOLDER]
                       [-- --set evaluator.python=PYTHON ...]

A model of random weights trains on the GPU, if there is one. Its reply picks a variant of the seed of
examples/torch/level1/softmax: the more letters e it has, the fewer passes of the kernel do nothing; one reply in ten is
taken as a wrong kernel, and one as none. With --task, a task whose candidates are texts (such as examples/learning/letters,
which needs no GPU), its replies are the candidates. A proxy before the service gives back one candidate in twenty without a
verdict, however often it is asked for.

DIR gets curve.jsonl (a line a step), curve.svg (benchmarks/grpo_curve.py) and checkpoints. The same command continues what was
ended by --seconds or killed. Exit status 0: all steps are done, exactly those candidates have no score, and the mean reward
of the last ten steps is above that of the first ten by more than its noise; 1: not so; 4: --seconds ended it before.
Needs the package kernelsmith, and TRL.
"""

import argparse
import asyncio
import collections
import hashlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import datasets
import torch
import transformers
import trl

import kernelsmith as ks
from kernelsmith.learning import Judge, RewardClient
from kernelsmith.learning.trl import reward_function

ROOT = Path(__file__).resolve().parent.parent
PROBLEM = ROOT / "examples/torch/level1/softmax"
DIVISION = "numerator / tl.sum(numerator, axis=0)"
MAXIMUM = "    numerator = tl.exp2(x - tl.max(x, axis=0))\n"
LETTER, MOST_LETTERS = "e", 16  # an untrained reply of 32 tokens has a few
UNFINISHED = 4
sys.path.insert(0, str(ROOT / "examples/learning"))
sys.path.insert(0, str(ROOT / "benchmarks"))
import grpo_curve  # noqa: E402
from tiny_model import tiny_model, tiny_tokenizer  # noqa: E402


def number_of(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def variant(reply, row):
    """A candidate of its own for each reply, the faster the more letters e the reply has."""
    number = number_of(reply)
    if number % 10 == 0:
        return ks.Refusal("the reply picks no variant", "no_code")
    seed = (PROBLEM / "seed.py").read_text()
    if DIVISION not in seed or MAXIMUM not in seed:
        raise SystemExit(f"the example's seed has changed: it lacks {DIVISION!r} or {MAXIMUM!r}")
    passes = 2 * (MOST_LETTERS - min(reply.count(LETTER), MOST_LETTERS))
    # After the first pass the maximum is 0, which the compiler does not know.
    idle = f"    for _ in range({passes}):\n        x = x - tl.max(x, axis=0)\n" if passes else ""
    seed = seed.replace(MAXIMUM, idle + MAXIMUM)
    return (seed.replace(DIVISION, f"1.01 * {DIVISION}") if number % 10 == 1 else seed) + f"\n# {number}\n"


class FailingProxy:
    """Passes requests on, but for those of one candidate in twenty."""

    def __init__(self, port):
        self.upstream, self.failed = port, set()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.port = asyncio.run_coroutine_threadsafe(self.start(), self.loop).result()

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            body = await reader.readexactly(length)
            writer.write(self.failure(json.loads(body)) if body and self.fails(body) else await self.passed_on(head + body))
            await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()

    def fails(self, body):
        candidate = json.loads(body)["task_id"].partition(".")[0]
        if number_of(candidate) % 20 == 0:
            self.failed.add(candidate)
        return candidate in self.failed

    def failure(self, request):
        answer = json.dumps({"task_id": request["task_id"], "status": "failed", "correctness": None, "speedup": None,
                             "error_code": "SYSTEM_ERROR", "error_message": "on purpose",
                             "metadata": {"kernelsmith": {"error": "device_lost"}}}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer)

    async def passed_on(self, request):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer


class Recorder:
    """A judge that remembers what it said."""

    def __init__(self, judge):
        self.judge, self.said = judge, []

    async def __call__(self, reply, row):
        judged = await self.judge(reply, row)
        self.said.append(judged)
        return judged


class Steps(transformers.TrainerCallback):
    """Writes a line for each step, and ends the training in order when the time is over."""

    def __init__(self, recorder, curve, seconds):
        self.recorder, self.curve, self.written = recorder, curve, 0
        self.began, self.deadline = time.monotonic(), time.monotonic() + seconds

    def on_step_end(self, args, state, control, **_):
        said = self.recorder.said[self.written:]
        self.written += len(said)
        scores = [one.score for one in said if one.score is not None]
        line = {"step": state.global_step, "reward": sum(scores) / len(scores) if scores else None, "samples": len(said),
                "zeros": scores.count(0.0), "unscored": len(said) - len(scores),
                "seconds": round(time.monotonic() - self.began, 1)}
        with self.curve.open("a") as file:
            file.write(json.dumps(line) + "\n")
        if time.monotonic() > self.deadline:
            control.should_save = control.should_training_stop = True


def train(recorder, steps, out, seconds):
    """Whether all weights are finite."""
    tokenizer = tiny_tokenizer((ROOT / "README.md").read_text())
    problem = None if recorder.judge.extract is not variant else (PROBLEM / "reference.py").read_text()
    rows = [{"prompt": [{"role": "user", "content": f"Variant {number}?"}], "reference_code": problem}
            for number in range(8)]
    gpu = torch.cuda.is_available()
    arguments = trl.GRPOConfig(
        output_dir=str(out / "checkpoints"), max_steps=steps, per_device_train_batch_size=16, num_generations=8,
        max_completion_length=32, loss_type="dr_grpo", scale_rewards="none", learning_rate=1e-3, use_cpu=not gpu, bf16=False,
        report_to="none", save_strategy="steps", save_steps=5, save_total_limit=2, logging_steps=1, disable_tqdm=True)
    trainer = trl.GRPOTrainer(tiny_model(tokenizer), reward_funcs=reward_function(recorder), args=arguments,
                              train_dataset=datasets.Dataset.from_list(rows), processing_class=tokenizer,
                              callbacks=[Steps(recorder, out / "curve.jsonl", seconds)])
    begun = any((out / "checkpoints").glob("checkpoint-*"))
    trainer.train(resume_from_checkpoint=begun or None)
    return all(torch.isfinite(weights).all() for weights in trainer.model.parameters())


def report(said, failed, finite):
    """Whether all is as it must be."""
    unscored = {one.reward.id for one in said if one.score is None}
    zeros = collections.Counter(one.reward.rejection or "decoy" for one in said if one.score == 0)
    reasons = collections.Counter(one.reward.reason for one in said if one.score is None)
    print(f"{len(said)} samples: {sum(bool(one.score) for one in said)} with a reward, "
          f"{sum(zeros.values())} with 0 ({dict(zeros)}), {sum(reasons.values())} without a score ({dict(reasons)})")
    wrong = sum(one.reward.id in failed and one.score == 0 for one in said)
    print(f"{len(failed)} candidates failed on purpose, and {wrong} of their samples have 0")
    return finite and unscored == failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernelsmith", default="kernelsmith")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--task")
    parser.add_argument("options", nargs="*", help="of serve, after --")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    command = [given.kernelsmith, "serve", "--port", "0", *(["--task", given.task] if given.task else []), *given.options]
    torch.set_num_threads(1)
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        first = service.stdout.readline()
        if not first.strip():
            raise SystemExit("kernelsmith serve does not start")
        proxy = FailingProxy(int(first.rpartition(":")[2]))
        client = RewardClient(f"http://127.0.0.1:{proxy.port}", backoff_s=(0.1, 5.0))
        extract = (lambda reply, row: reply) if given.task else variant
        recorder = Recorder(Judge(client, score="speedup", extract=extract))
        finite = train(recorder, given.steps, given.out, given.seconds)
    finally:
        service.terminate()
        service.wait()
    right = report(recorder.said, proxy.failed, finite)
    steps = grpo_curve.read(given.out / "curve.jsonl")
    (given.out / "curve.svg").write_text(grpo_curve.svg(steps))
    print(grpo_curve.said(steps))
    if right and steps[-1]["step"] < given.steps:
        print(f"{given.steps - steps[-1]['step']} steps are left: repeat the command")
        sys.exit(UNFINISHED)
    sys.exit(not (right and grpo_curve.rose(steps) and any(one["unscored"] for one in steps)))


if __name__ == "__main__":
    main()
