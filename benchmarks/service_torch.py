"""What `kernelsmith serve` answers about KernelBench candidates on a GPU, each kind once, and how many it evaluates a second.

    service_torch.py --kernelsmith build/release/bin/kernelsmith [--requests 48] [-- --set evaluator.python=PYTHON ...]

The requests are those of verl's reward client, for the problem examples/torch/level1/softmax. Expected: the seed is correct and
covers a call by its own kernels, a module of PyTorch's operators is correct and a decoy, the others are rejected with the code named
beside them. Without a GPU whatever gets past planning is `failed` with RESOURCE_ERROR.
"""

import argparse
import concurrent.futures
import http.client
import json
import subprocess
import time
from pathlib import Path

PROBLEM = Path(__file__).parent.parent / "examples/torch/level1/softmax"
PATIENCE_S = 600


class Service:
    def __init__(self, command, options):
        self.process = subprocess.Popen([command, "serve", "--port", "0", *options], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request(method, path, None if body is None else json.dumps(body))
        return json.loads(connection.getresponse().read())

    def evaluate(self, task_id, reference, kernel, **fields):
        begun = time.monotonic()
        self.ask("POST", "/evaluate", {"task_id": task_id, "reference_code": reference, "kernel_code": kernel, "backend": "triton",
                                       "num_correct_trials": 5, "num_perf_trials": 100, "timeout": 300, **fields})
        result = self.ask("GET", f"/results/{task_id}?wait={PATIENCE_S}")
        return {**result, "after_s": time.monotonic() - begun}

    def stop(self):
        self.process.terminate()
        self.process.communicate()


def candidates(reference, seed):
    """Name, arguments of evaluate(), and what is expected."""
    module = reference.split("def get_inputs")[0].replace("class Model(", "class ModelNew(").replace("super(Model", "super(ModelNew")
    renamed = reference.replace("class Model(", "class Net(").replace("super(Model", "super(Net")
    return [
        ("seed", (reference, seed), {}, "correct"),
        ("entry point Net", (renamed, seed.replace("ModelNew", "NetNew")), {"entry_point": "Net"}, "correct"),
        ("torch.compile is 1.0x", (reference, seed), {"reference_backend": "torch_compile"}, "correct"),
        ("PyTorch alone", (reference, module), {}, "correct, decoy"),
        ("wrong output", (reference, seed.replace("numerator / tl.sum", "1.5 * numerator / tl.sum")), {}, "CORRECTNESS_ERROR"),
        ("syntax error", (reference, "class ModelNew(:\n    pass\n"), {}, "COMPILATION_ERROR"),
        ("no ModelNew", (reference, "import torch\nclass Other:\n    pass\n"), {}, "INSTANTIATION_ERROR"),
    ]


def describe(result):
    verdict = "correct" if result["correctness"] else str(result["error_code"])
    verdict += ", decoy" if result["decoy_kernel"] else ""
    times = "" if result["speedup"] is None else f"  {result['reference_runtime']:.4f} / {result['kernel_runtime']:.4f} ms = {result['speedup']:.2f}x"
    coverage = (result["metadata"] or {}).get("custom_kernel_cuda_time_coverage")
    return f"{result['status']}: {verdict}{times}" + ("" if coverage is None else f"  own kernels {coverage:.0%} of the time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelsmith", default="build/release/bin/kernelsmith", help="the command")
    parser.add_argument("--requests", type=int, default=48, help="of one prepared task, all at once")
    parser.add_argument("options", nargs="*", help="options of `kernelsmith serve`, behind --")
    options = parser.parse_args()
    reference, seed = (PROBLEM / "reference.py").read_text(), (PROBLEM / "seed.py").read_text()
    service = Service(options.kernelsmith, options.options)
    try:
        for name, texts, fields, expected in candidates(reference, seed):
            result = service.evaluate(name.replace(" ", "_"), *texts, **fields)
            print(f"{name:24} {describe(result)}  after {result['after_s']:.1f} s  (expected: {expected})", flush=True)
            if result["status"] == "failed":
                print(f"    {result['error_message']}")
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(options.requests) as pool:
            results = list(pool.map(lambda i: service.evaluate(f"many{i}", reference, f"{seed}\n# {i}\n"), range(options.requests)))
        took = time.monotonic() - begun
    finally:
        service.stop()
    completed = sum(result["status"] == "completed" and bool(result["correctness"]) for result in results)
    print(f"{options.requests} at once in {took:.1f} s: {options.requests / took:.2f}/s; completed and correct: {completed}")


if __name__ == "__main__":
    main()
