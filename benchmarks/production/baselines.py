"""A package's kernel beside what PyTorch can do for its reference: called as it is, compiled, and both in a CUDA graph.

usage: baselines.py PACKAGE [--pairs 20] [--calls 10]; needs PyTorch only. Prints a JSON object for each bucket: `over` has the
ratio of each baseline's time to ours. `called` and `compiled` are timed from Python, with what Python costs, beside our
operator timed in the same way; the others in CUDA graphs, beside our kernel in one."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

_HERE = Path(__file__).resolve().parent


def from_python(arms: Any, call: Callable[[], Any], calls: int) -> Callable[[], float]:
    """The seconds of a call, until the device is done."""
    def measure() -> float:
        if arms.DEVICE == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(calls):
            call()
        if arms.DEVICE == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - began) / calls

    return measure


def compared(arms: Any, alternate: Any, bucket: dict[str, Any], pairs: int, calls: int) -> dict[str, Any]:
    model, arguments = arms.met(bucket["sizes"])
    inputs, operator = arms.inputs_of(arguments), arms.PACKAGE.operator
    compiled = torch.compile(model, backend="inductor" if arms.DEVICE == "cuda" else "aot_eager")
    wrong = arms.differences(operator(*arguments), model, arguments)
    if wrong:
        sys.exit(f"error: {bucket['sizes']}: {'; '.join(wrong)}")
    theirs = arms.differences(compiled(*inputs), model, arguments)
    in_graph = arms.timed(lambda: operator(*arguments), calls)
    as_called = from_python(arms, lambda: operator(*arguments), calls)
    over = {"a graph": (arms.timed(lambda: model(*inputs), calls), in_graph),
            "a graph of the compiled": (arms.timed(lambda: compiled(*inputs), calls), in_graph),
            "called": (from_python(arms, lambda: model(*inputs), calls), as_called),
            "compiled": (from_python(arms, lambda: compiled(*inputs), calls), as_called)}
    results = {name: alternate(old, new, pairs).as_dict() for name, (old, new) in over.items()}
    return {"ran": arms.PACKAGE.kernel_of(*arguments) or "reference", "us": results["a graph"]["new_us"],
            "us_called": results["called"]["new_us"], "over": results, "compiled_differs": theirs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("PACKAGE", type=Path)
    parser.add_argument("--pairs", type=int, default=20, help="of two arms, at least 6 (20)")
    parser.add_argument("--calls", type=int, default=10, help="of a measurement (10)")
    options = parser.parse_args()
    sys.path[:0] = [str(options.PACKAGE), str(options.PACKAGE / "tests")]
    import arms  # type: ignore[import-not-found]
    from pairs import alternate  # type: ignore[import-not-found]

    with torch.no_grad():
        for bucket in arms.FACTS["buckets"]:
            found = compared(arms, alternate, bucket, options.pairs, options.calls)
            device = torch.cuda.get_device_name() if arms.DEVICE == "cuda" else "CPU"
            print(json.dumps({"sizes": bucket["sizes"], "device": device, **found}))


if __name__ == "__main__":
    main()
