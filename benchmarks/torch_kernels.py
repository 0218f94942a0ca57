"""PyTorch's own kernels at the shapes of the CUDA examples, timed as kernelsmith times: one graph launch between two
events, queued behind a kernel that holds the device back, less the same around an empty graph; the L2 is swept before
it if the example says `cache: cold`. Prints a line for each shape.

    python3 benchmarks/torch_kernels.py [EXAMPLE...]
"""

import statistics
import sys

import torch

REPLAYS = 200


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def softmax(rows, cols):
    x, y = normal(rows, cols), torch.empty(rows, cols, device="cuda")
    return lambda: torch.softmax(x, -1, out=y)


def reduce(n):
    x, y = normal(n), torch.empty((), device="cuda")
    return lambda: torch.sum(x, 0, out=y)


def rmsnorm(rows, cols):
    x, w = normal(rows, cols, dtype=torch.float16), normal(cols, dtype=torch.float16)
    return lambda: torch.nn.functional.rms_norm(x, (cols,), w, 1e-5)


def matmul(m, n, k):
    a, b = normal(m, k, dtype=torch.bfloat16), normal(k, n, dtype=torch.bfloat16)
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.matmul(a, b, out=c)


# Example: what makes its call, its shapes, whether the L2 is cold.
EXAMPLES = {
    "softmax_cuda": (softmax, [(4096, 2048), (1000, 5000)], True),
    "reduce_cuda": (reduce, [(16777216,), (1000000,)], True),
    "rmsnorm_cuda": (rmsnorm, [(8192, 4096), (2000, 3000)], True),
    "matmul_bf16_cuda": (matmul, [(2048, 2048, 2048), (1024, 3072, 1536)], False),
}


def median_us(graph, sweep):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(REPLAYS):
        if sweep is not None:
            sweep.fill_(1)
        torch.cuda._sleep(200_000)  # so that everything is queued before the clock starts
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)


def captured(call):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def main() -> None:
    sweep = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for example in sys.argv[1:] or EXAMPLES:
        make, shapes, cold = EXAMPLES[example]
        for shape in shapes:
            call = make(*shape)
            for _ in range(3):
                call()
            torch.cuda.synchronize()
            empty_us = median_us(captured(lambda: None), None)
            call_us = median_us(captured(call), sweep if cold else None) - empty_us
            print(f"PyTorch, {example} {shape}: {call_us:.2f} us", flush=True)


if __name__ == "__main__":
    main()
