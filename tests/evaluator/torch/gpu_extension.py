"""C++ extensions from source to verdict on a real GPU, by `kernelsmith evaluate`: honest ones are accepted, wrong twins
rejected with their codes. Needs PyTorch with CUDA, Triton and nvcc.

    python3 -u tests/evaluator/torch/gpu_extension.py [--kernelsmith PROGRAM]

Prints a line for each candidate; ends with status 1 if one is not judged as it must be.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from gpu_extension_candidates import TASKS

_LIMIT_S = 150


def evaluated(program: str, folder: pathlib.Path, reference: str, candidates: list[str]) -> list[dict]:
    (folder / "reference.py").write_text(reference)
    (folder / "task.yaml").write_text(f"version: 1\nname: {folder.name}\nbackend: torch\n"
                                      "files: {reference: reference.py}\n")
    files = []
    for index, candidate in enumerate(candidates):
        files.append(folder / f"candidate{index}.py")
        files[-1].write_text(candidate)
    done = subprocess.run([program, "evaluate", "--quick", "--json", folder, *files], capture_output=True, text=True,
                          timeout=_LIMIT_S, check=False)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(told) != len(files) or any("error" in each for each in told):
        raise RuntimeError(f"{len(told)} verdicts of {len(files)}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return told


def words_of(told: dict) -> str:
    if told["accepted"]:
        spent = ", ".join(f"{step} {ms:.0f}" for step, ms in told["spent_ms"].items() if ":" not in step)
        return f"accepted, {told['speedup']['median']:.2f}x, {told['runtime_us']:.1f} us; ms: {spent}; {told['features']}"
    return f"{told['code']}: {told['diagnostics'].splitlines()[0][:120]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernelsmith", default="kernelsmith")
    chosen = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for task, (reference, candidates) in TASKS.items():
            folder = pathlib.Path(scratch, task)
            folder.mkdir()
            verdicts = evaluated(chosen.kernelsmith, folder, reference, [text for text, _ in candidates.values()])
            for told, (name, (_, codes)) in zip(verdicts, candidates.items()):
                good = told["accepted"] if codes is None else told["code"] in codes
                wrong += not good
                print(f"{'ok    ' if good else 'FAILED'}  {task}, {name}: {words_of(told)}", flush=True)
    print(f"done: {wrong} not as they must be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
