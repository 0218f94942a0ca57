"""What `kernelsmith serve` answers, and how soon, while some of its candidates hang, crash or are wrong. Needs a GPU.

    service_mixed.py --kernelsmith build/release/bin/kernelsmith [--requests 200] [--concurrency 16] [-- --set evaluator.python=PYTHON ...]

Requests are those of verl's reward client for the problem examples/torch/level1/softmax, each with an id and a candidate of its own:
5 % hang, 5 % crash, 10 % are wrong, the rest are the honest seed. So many clients send one request after the other. Prints a line
for each kind, then the rate, the latency and what the hanging ones got; exit status 0 if every request got what it should.
"""

import argparse
import collections
import concurrent.futures
import http.client
import json
import random
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

PROBLEM = Path(__file__).parent.parent / "examples/torch/level1/softmax"
REFERENCE = (PROBLEM / "reference.py").read_text()
LOAD = 'x = tl.load(x_ptr + start + column, mask=inside, other=float("-inf")) * factor'
STORE = "tl.store(y_ptr + start + column, numerator / tl.sum(numerator, axis=0), mask=inside)"
SHARES = {"hangs": 0.05, "crashes": 0.05, "wrong": 0.10}
EXPECTED = {"honest": "score", "hangs": "TIMEOUT_ERROR", "crashes": "RUNTIME_ERROR", "wrong": "CORRECTNESS_ERROR"}
FIRST_S = 90  # to prepare the task: two Pythons that import PyTorch


def replaced(text, old, new):
    if text.count(old) != 1:
        raise SystemExit(f"the example's seed has changed: it has no {old!r}")
    return text.replace(old, new)


def candidates(seed):
    """The text of each kind."""
    forever = "while tl.load(x_ptr, volatile=True) != 12345.678:\n        pass\n    "
    return {"honest": seed,
            "hangs": replaced(seed, LOAD, forever + LOAD),
            "crashes": replaced(seed, LOAD, LOAD.replace("x_ptr +", "x_ptr + (1 << 38) +")),
            "wrong": replaced(seed, STORE, STORE.replace("numerator /", "1.01 * numerator /"))}


def kinds_of(requests):
    kinds = [kind for kind, share in SHARES.items() for _ in range(round(share * requests))]
    kinds += ["honest"] * (requests - len(kinds))
    random.Random(1).shuffle(kinds)
    return kinds


class Service:
    def __init__(self, command, options, concurrency):
        self.process = subprocess.Popen([command, "serve", "--port", "0", "--workers", str(concurrency), *options],
                                        stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        if not first.strip():
            raise SystemExit("kernelsmith serve does not start")
        self.port = int(first.rpartition(":")[2])

    def ask(self, method, path, body=None, patience_s=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience_s + 10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def evaluate(self, task_id, reference, kernel, deadline, timeout_s=120):
        """The result, with its latency; None if none came by the deadline."""
        begun = time.monotonic()
        self.ask("POST", "/evaluate", {"task_id": task_id, "reference_code": reference, "kernel_code": f"{kernel}\n# {task_id}\n",
                                       "backend": "triton", "timeout": timeout_s})
        while (left := deadline - time.monotonic()) > 0:
            wait = max(1, min(30, int(left)))
            result = self.ask("GET", f"/results/{task_id}?wait={wait}", patience_s=wait)
            if "status" in result:
                return {**result, "latency_s": time.monotonic() - begun}
        return None

    def stop(self):
        self.process.terminate()
        try:
            self.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def answer_of(result):
    """One word for what a request got."""
    if result is None:
        return "no answer"
    if result["status"] != "completed":
        return f"{result['status']} {result['error_code']}"
    return "score" if result["correctness"] else str(result["error_code"])


def share_out(service, texts, options):
    """[(kind, result)], by clients that send one request after the other."""
    kinds, lock, results = list(enumerate(kinds_of(options.requests))), threading.Lock(), []
    deadline = time.monotonic() + options.seconds

    def client():
        while time.monotonic() < deadline:
            with lock:
                if not kinds:
                    return
                number, kind = kinds.pop(0)
            result = service.evaluate(f"mixed-{number}", REFERENCE, texts[kind], deadline)
            with lock:
                results.append((kind, result))

    with concurrent.futures.ThreadPoolExecutor(options.concurrency) as pool:
        for done in [pool.submit(client) for _ in range(options.concurrency)]:
            done.result()
    return results + [(kind, None) for _, kind in kinds]


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))] if values else float("nan")


def print_table(results, took_s):
    print(f"{'kind':8} {'sent':>5} {'as due':>7} {'p50 s':>7} {'p99 s':>7} {'most s':>7}  answers")
    for kind in EXPECTED:
        of_kind = [result for sent, result in results if sent == kind]
        seconds = [result["latency_s"] for result in of_kind if result]
        answers = collections.Counter(answer_of(result) for result in of_kind)
        print(f"{kind:8} {len(of_kind):5} {answers[EXPECTED[kind]]:7} {percentile(seconds, 0.5):7.1f} {percentile(seconds, 0.99):7.1f} "
              f"{max(seconds, default=float('nan')):7.1f}  " + ", ".join(f"{n} {answer}" for answer, n in answers.most_common()))
    seconds = [result["latency_s"] for _, result in results if result]
    print(f"{len(seconds)} answers in {took_s:.1f} s: {len(seconds) / took_s:.2f}/s; latency p50 {percentile(seconds, 0.5):.1f} s, "
          f"p99 {percentile(seconds, 0.99):.1f} s")


def print_hanging(results):
    checks = [result["metadata"]["kernelsmith"]["spent_ms"].get("check", 0) / 1e3
              for kind, result in results if kind == "hangs" and result and "kernelsmith" in (result["metadata"] or {})
              and "spent_ms" in result["metadata"]["kernelsmith"]]
    if checks:
        print(f"hanging ones held the device for {statistics.median(checks):.1f} s (median), {max(checks):.1f} s (most)")
    told = {answer_of(result): result["error_message"] for kind, result in results if kind == "hangs" and result}
    for answer, message in told.items():
        print(f"  they get {answer}: {str(message)[:300]}")


def print_undue(results):
    undue = [(kind, result) for kind, result in results if answer_of(result) != EXPECTED[kind]]
    for kind, result in undue[:5]:
        print(f"  not as due: {kind} got {answer_of(result)}: {str(result and result['error_message'])[:300]}")
    return len(undue)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelsmith", default="build/release/bin/kernelsmith", help="the command")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=140, help="for all requests; what has no answer then has none")
    parser.add_argument("options", nargs="*", help="options of `kernelsmith serve`, behind --")
    options = parser.parse_args()
    texts = candidates((PROBLEM / "seed.py").read_text())
    service = Service(options.kernelsmith, options.options, options.concurrency)
    try:
        first = service.evaluate("first", REFERENCE, texts["honest"], time.monotonic() + FIRST_S)
        print(f"the first, which prepares the task: {answer_of(first)}, {first['latency_s'] if first else FIRST_S:.1f} s", flush=True)
        if answer_of(first) != "score":
            print(f"  {first and first['error_message']}")
            return 1
        begun = time.monotonic()
        results = share_out(service, texts, options)
        print_table(results, time.monotonic() - begun)
        print_hanging(results)
        return 1 if print_undue(results) else 0
    finally:
        service.stop()


if __name__ == "__main__":
    sys.exit(main())
