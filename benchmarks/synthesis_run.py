"""Runs tasks of a synthesis at their own size on this machine's CPU, with seeds that the synthesis does not use.

    build/torch/bin/python benchmarks/synthesis_run.py DIR/tasks [--count 60] [--seconds 60]

Draws tasks by a hash and runs each in a process of its own, outside of the sandbox: read them first. A task is good if its
outputs are finite and at most 1 GiB, repeat for the same inputs, and change with each input alone. Prints what is not, and
the figures. It shares no code with the trial of the sandbox.
"""

import argparse
import collections
import hashlib
import multiprocessing
import pathlib
import resource
import warnings

import torch

SEEDS = (1001, 2002)
MOST_BYTES = 1 << 30
MEMORY = 8 << 30


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return [one for part in values for one in tensors(part)]


def replaced(inputs, at, other):
    """The inputs, in which the tensor number `at` is that of other inputs."""
    number = -1

    def visit(mine, theirs):
        nonlocal number
        if isinstance(mine, (list, tuple)):
            return [visit(*pair) for pair in zip(mine, theirs, strict=True)]
        if isinstance(mine, torch.Tensor):
            number += 1
            return (theirs if number == at else mine).clone()
        return mine

    return visit(inputs, other)


def differ(before, after):
    return any(one.shape != two.shape or (one.double() - two.double()).abs().max() > 1e-5 * (one.double().abs().max() + 1e-30)
               for one, two in zip(before, after, strict=True))


def verdict(path):
    space = {"__name__": "task"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    torch.manual_seed(SEEDS[0])
    model = space["Model"](*space["get_init_inputs"]()).eval()
    drawn = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        drawn.append(space["get_inputs"]())

    def call(inputs):
        torch.manual_seed(0)
        with torch.no_grad():
            return [one.clone() for one in tensors(model(*inputs))]

    count = len(tensors(drawn[0]))
    first = call(replaced(drawn[0], count, drawn[1]))
    if not first:
        return "no output"
    if sum(one.nbytes for one in first) > MOST_BYTES:
        return "large outputs"
    if not all(one.isfinite().all() for one in first):
        return "not finite"
    if differ(first, call(replaced(drawn[0], count, drawn[1]))):
        return "does not repeat"
    return next((f"ignores input {at}" for at in range(count) if not differ(first, call(replaced(drawn[0], at, drawn[1])))), "good")


def work(path, pipe):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    try:
        pipe.send(verdict(path))
    except MemoryError:
        pipe.send("not run: memory")
    except Exception as error:  # noqa: BLE001 - a task may raise anything
        memory = "alloc" in str(error)
        pipe.send("not run: memory" if memory else f"raises {type(error).__name__}: {str(error)[:200]}")


def run(path, seconds):
    mine, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=work, args=(path, theirs))
    process.start()
    theirs.close()
    try:
        return mine.recv() if mine.poll(seconds) else "not run: time"
    except EOFError:
        return "ends the process"
    finally:
        process.kill()
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    paths = sorted(given.folder.rglob("*.py"), key=lambda path: hashlib.sha256(path.name.encode()).hexdigest())[:given.count]
    found = collections.Counter()
    for path in paths:
        said = run(path, given.seconds)
        found[said.partition(" ")[0] if said.startswith("raises") else said] += 1
        if said != "good":
            print(f"{path.name}: {said}", flush=True)
    print(f"{len(paths)} tasks of {len(list(given.folder.rglob('*.py')))}: {dict(found.most_common())}")


if __name__ == "__main__":
    main()
