"""A candidate that is what PyTorch's compiler wrote."""


from support import HEAD, Planner, launches, needs_torch

REFERENCE = HEAD + """
class Model(nn.Module):
    def forward(self, x): return torch.relu(x) + 1
def get_inputs(): return [torch.randn(4000)]
"""

KERNEL = """
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={'x': 4096}, filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'},
                 'constants': {},
                 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, warp_size=32,
                                            regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048),
                 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'fused', 'mutated_arg_names': []},
    min_elem_per_thread=0)
@triton.jit
def fused(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + xindex, xmask)
    tl.store(out_ptr0 + xindex, triton_helpers.maximum(tl.full([1], 0, tl.int32), tmp0) + 1.0, xmask)
"""

CANDIDATE = f"""
import torch
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
async_compile = AsyncCompile()
fused = async_compile.triton('fused', '''{KERNEL}''', device_str='cuda')
async_compile.wait(globals())
del async_compile

def call(args):
    x, = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((4000, ), (1, ), torch.float32)
        fused.run(x, buf0, 4000, stream=get_raw_stream(0))
        del x
    return (buf0, )

class ModelNew(torch.nn.Module):
    def forward(self, x): return call([x])[0]
"""


@needs_torch
class Inductor(Planner):
    def test_its_output_is_planned(self):
        plan, _, _ = self.plan(CANDIDATE, REFERENCE)
        names = [each["name"].split()[0] for each in plan["alternatives"]]
        self.assertGreater(len(names), 1)
        for i, name in enumerate(names):
            (launch,) = launches(plan, i)
            self.assertEqual(launch["grid"], [-(-4000 // int(name.partition("=")[2])), 1, 1])
            self.assertEqual(launch["args"][2], ["i32", 4000])
