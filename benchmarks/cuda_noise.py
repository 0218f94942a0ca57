"""How much the cuda backend's ratio to the yardstick scatters over processes.

Makes a task for each duration, evaluates one candidate in as many processes as asked for, and prints mean and
coefficient of variation of `over_yardstick`. Needs a GPU.

    python3 benchmarks/cuda_noise.py --kernelsmith build/release/bin/kernelsmith --processes 10
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

# Elements of an f32 vector that is read once and written once, and steps of arithmetic on each, by what a call then
# takes on an H100, in microseconds.
SIZES = {"2": (4096, 1), "10": (3 << 20, 1), "100": (3 << 20, 800), "1000": (3 << 20, 8000)}

TASK = """version: 1
name: scale
backend: cuda
entry: scale
files: {reference: reference.cu, seed: seed.cu}
sizes: {n: %(n)d}
tensors:
  - {name: x, role: in,  dtype: f32, shape: [n], init: normal}
  - {name: y, role: out, dtype: f32, shape: [n]}
timed: [{}]
check: [{n: 1}, {n: 1000}]
cache: cold
"""

KERNEL = """#include "task.cuh"
namespace {
__device__ float steps_from(float x) {
  float value = x;
  for (int step = 0; step < %(steps)d; ++step) value = value * 0.5f + x;
  return value;
}
__global__ void scale_elements(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * %(threads)d + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * %(threads)d)
    y[i] = steps_from(x[i]);
}
}  // namespace
extern "C" void scale(const float* __restrict__ x, float* __restrict__ y, std::int64_t n, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + %(threads)d - 1) / %(threads)d);
  scale_elements<<<blocks < %(most)d ? blocks : %(most)d, %(threads)d, 0, stream>>>(x, y, n);
}
"""


def make_task(folder: pathlib.Path, n: int, steps: int) -> None:
    folder.mkdir()
    (folder / "task.yaml").write_text(TASK % {"n": n})
    (folder / "reference.cu").write_text(KERNEL % {"threads": 256, "most": 1 << 30, "steps": steps})
    (folder / "seed.cu").write_text(KERNEL % {"threads": 256, "most": 1 << 30, "steps": steps})
    (folder / "candidate.cu").write_text(KERNEL % {"threads": 128, "most": 2048, "steps": steps})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernelsmith", default="build/release/bin/kernelsmith")
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(SIZES))
    parser.add_argument("--quick", action="store_true", help="as a search measures")
    arguments = parser.parse_args()
    print(f"{'about us':>9} {'runtime_us':>10} {'ratio':>8} {'cv %':>7} {'min':>8} {'max':>8}  ok")
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.only:
            folder = pathlib.Path(scratch) / name
            make_task(folder, *SIZES[name])
            ratios, times = [], []
            for _ in range(arguments.processes):
                command = [arguments.kernelsmith, "evaluate", "--json", str(folder), str(folder / "candidate.cu")]
                done = subprocess.run(command + (["--quick"] if arguments.quick else []), capture_output=True, text=True)
                if done.returncode != 0:
                    print(done.stdout[-300:], done.stderr[-300:])
                    continue
                result = json.loads(done.stdout)
                ratios.append(result["over_yardstick"]["median"])
                times.append(result["features"]["runtime_us"])
            if len(ratios) < 2:
                continue
            mean = statistics.mean(ratios)
            print(
                f"{name:>9} {statistics.median(times):10.2f} {mean:8.4f} {100 * statistics.stdev(ratios) / mean:7.3f} "
                f"{min(ratios):8.4f} {max(ratios):8.4f}  {len(ratios)}/{arguments.processes}",
                flush=True,
            )


if __name__ == "__main__":
    main()
