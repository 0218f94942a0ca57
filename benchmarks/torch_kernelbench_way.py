"""Seconds from source to verdict, in one run: in the way of KernelBench's harness, and by a warm kernelsmith.

    python3 benchmarks/torch_kernelbench_way.py [--tasks FOLDER] [--variants 2] [--kernelsmith PROGRAM]

Its way, in words of our own: each candidate has a process; that imports it, compares a few calls with the reference's by
allclose, and times calls with the same inputs by events. Ours: `kernelsmith evaluate --quick` of the same files; the first
file is the seed and not counted, because PyTorch starts meanwhile. One candidate after the other in both. The candidates
are the seeds of examples/torch with other values of their knobs. Needs a GPU.
"""

import argparse
import importlib.util
import itertools
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from torch_variants import EXAMPLES, seeds, variants

CHECKS = 5  # calls that are compared
CALLS = 100  # that are timed
WARM_UPS = 3
TOLERANCE = 1e-2  # relative and absolute
LIMIT_S = 120


def module_at(path: pathlib.Path):
    """A file as a module: Triton reads its kernels' sources from the file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def agree(torch, model, candidate, draw) -> bool:
    """Whether a few calls on inputs that `draw` gives agree by allclose."""
    for seed in range(CHECKS):
        torch.manual_seed(seed)
        inputs = draw()
        pairs = zip(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]
                      for outputs in (model(*inputs), candidate(*inputs))))
        if not all(torch.allclose(own, other, rtol=TOLERANCE, atol=TOLERANCE) for own, other in pairs):
            return False
    return True


def mean_us(torch, module, inputs) -> float:
    """The mean time of calls on the same inputs, with their launches from Python."""
    for _ in range(WARM_UPS):
        module(*inputs)
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(CALLS)]
    for begin, end in events:
        begin.record()
        module(*inputs)
        end.record()
    torch.cuda.synchronize()
    return 1000 * statistics.mean(begin.elapsed_time(end) for begin, end in events)


def judge_in_this_process(reference: pathlib.Path, candidate: pathlib.Path) -> None:
    """What one of KernelBench's processes does; prints the verdict as JSON."""
    import torch

    ours, theirs = module_at(reference), module_at(candidate)
    torch.manual_seed(0)
    model = ours.Model(*ours.get_init_inputs()).cuda().eval()
    torch.manual_seed(0)
    new = theirs.ModelNew(*ours.get_init_inputs()).cuda().eval()
    new.load_state_dict(model.state_dict(), strict=False)  # by name, as ours: a seed may draw in another order

    def draw():
        return [each.cuda() if isinstance(each, torch.Tensor) else each for each in ours.get_inputs()]

    with torch.no_grad():
        correct = agree(torch, model, new, draw)
        inputs = draw()
        times = [mean_us(torch, module, inputs) for module in (model, new)] if correct else [0, 1]
    print(json.dumps({"correct": correct, "speedup": times[0] / times[1]}))


def its_way(reference: pathlib.Path, candidates: list[pathlib.Path]) -> list[tuple[float, float]]:
    """Seconds and speedup of each candidate; 0 for one that is wrong."""
    found = []
    for candidate in candidates:
        began = time.monotonic()
        done = subprocess.run([sys.executable, __file__, "--judge", reference, candidate], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        if done.returncode != 0:
            sys.exit(f"{candidate.name} fails in a process of its own:\n{done.stderr[-2000:]}")
        verdict = json.loads(done.stdout.splitlines()[-1])
        found.append((time.monotonic() - began, verdict["speedup"]))
    return found


def our_way(kernelsmith: str, seed: pathlib.Path, candidates: list[pathlib.Path]) -> list[tuple[float, float, dict]]:
    """The same of one evaluator, which the seed has warmed, and the milliseconds of its steps."""
    command = [kernelsmith, "evaluate", "--quick", "--json", seed.parent, seed, *candidates]
    found, text = [], ""
    with tempfile.TemporaryFile("w+") as errors, \
            subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        began = time.monotonic()
        for line in process.stdout:  # an object for each file, as soon as it is there
            text += line
            if line != "}\n":
                continue
            now = time.monotonic()
            verdict, text = json.loads(text), ""
            found.append((now - began, verdict["speedup"]["median"] if verdict["accepted"] else 0.0, verdict["spent_ms"]))
            began = now
        process.wait()
        if len(found) != len(candidates) + 1:
            errors.seek(0)
            sys.exit(f"kernelsmith gives {len(found)} verdicts for {len(candidates) + 1} files:\n{errors.read()[-2000:]}")
    return found[1:]


def arguments_of(line: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=pathlib.Path, default=EXAMPLES, help="a folder of tasks with seeds")
    parser.add_argument("--variants", type=int, default=2, help="candidates of each task")
    parser.add_argument("--kernelsmith", default=shutil.which("kernelsmith"), help="the program, if PATH has none")
    parser.add_argument("--judge", nargs=2, type=pathlib.Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(line)
    if chosen.judge:
        return chosen
    if chosen.variants < 1:
        parser.error("--variants must be at least 1")
    if not chosen.kernelsmith or not shutil.which(chosen.kernelsmith):
        parser.error(f"there is no program {chosen.kernelsmith or 'kernelsmith on PATH'}: name one with --kernelsmith")
    if not seeds(chosen.tasks):
        parser.error(f"no task below {chosen.tasks} has a seed with a Triton kernel")
    return chosen


def require_gpu() -> None:
    try:
        import torch
    except ImportError as error:
        sys.exit(f"this needs PyTorch: {error}")
    if not torch.cuda.is_available():
        sys.exit(f"this needs a GPU that PyTorch {torch.__version__} can use, and there is none")


def main(line: list[str] | None = None) -> None:
    chosen = arguments_of(line)
    if chosen.judge:
        judge_in_this_process(*chosen.judge)
        return
    require_gpu()
    print(f"{'candidate':32} {'its way, s':>10} {'speedup':>8} {'ours, s':>8} {'speedup':>8}", flush=True)
    its, our = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds(chosen.tasks):
            candidates = []
            for number, text in enumerate(itertools.islice(variants(seed.read_text()), chosen.variants)):
                candidates.append(pathlib.Path(folder, f"{seed.parent.name}_{number}.py"))
                candidates[-1].write_text(text)
            rows = zip(candidates, its_way(seed.with_name("reference.py"), candidates),
                       our_way(chosen.kernelsmith, seed, candidates))
            for candidate, one, other in rows:
                steps = ", ".join(f"{step} {ms:.0f}" for step, ms in other[2].items() if ms >= 1)
                print(f"{candidate.stem:32} {one[0]:10.2f} {one[1]:7.2f}x {other[0]:8.2f} {other[1]:7.2f}x  {steps}", flush=True)
                its.append(one[0])
                our.append(other[0])
    for name, times in (("its way", its), ("ours", our)):
        print(f"{name}: {statistics.median(times):.2f} s a candidate (median of {len(times)}), "
              f"{len(times) / sum(times):.2f} candidates/s", flush=True)


if __name__ == "__main__":
    main()
