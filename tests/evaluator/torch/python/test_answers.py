"""What a candidate may ask PyTorch about its device, its streams and its compilers: answered as on the target."""


from support import Planner, candidate, forward, needs_torch, operators


@needs_torch
class Answers(Planner):
    def test_what_is_compiled_may_be_defined(self):
        plan, _, _ = self.plan(candidate("""
            @torch.compile
            def one(v): return v * 2
            @torch.compile(dynamic=True, mode="max-autotune")
            def two(v): return v * 3
            @torch.compiler.disable
            def three(v): return v + 1
            @torch.compiler.disable(recursive=False)
            def four(v): return v + 2
        """) + forward("return four(three(self.linear(x)))", "self.spare = torch.compile(self.linear)"))
        self.assertEqual(operators(plan), ["t", "addmm", "add", "add"])

    def test_what_is_compiled_is_refused_when_it_is_called(self):
        error = self.refusal(candidate("""
            @torch.compile(dynamic=True)
            def double(v): return v * 2
        """) + forward("return double(x)"), "not_allowed")
        self.assertIn("double (candidate.py:8) is called", error["message"])
        self.assertEqual(error["where"], "candidate.py:22")
        error = self.refusal(forward("return self.fast(x)", "self.fast = torch.compile(self.linear)"), "not_allowed")
        self.assertIn("Linear (", error["message"])

    def test_streams_and_events(self):
        plan, _, _ = self.plan(forward("""
            s, before = torch.cuda.Stream(), torch.cuda.current_stream()
            assert isinstance(s, torch.cuda.Stream) and s.cuda_stream == 0 and before == torch.cuda.default_stream()
            s.wait_stream(before)
            with s:
                assert torch.cuda.current_stream() is s
                y = self.linear(x)
            with torch.cuda.stream(s):
                assert torch.cuda.current_stream() is s
                y = y + 1
            assert torch.cuda.current_stream() is before
            y.record_stream(s)
            self.linear.weight.record_stream(torch.cuda.current_stream())
            event = s.record_event()
            assert isinstance(event, torch.cuda.Event) and event.query()
            before.wait_event(event)
            return y
        """))
        self.assertEqual(operators(plan), ["t", "addmm", "add"])

    def test_a_process_has_one_name_in_all_plannings(self):
        self.plan(forward("""
            import os
            assert (f"e_{os.getpid()}", str(os.getpid()), f"{os.getpid():03d}") == ("e_0", "0", "000")
            assert os.getpid() > 0 and os.kill(os.getpid(), 0) is None
            return self.linear(x)
        """))

    def test_devices_and_guards(self):
        self.plan(forward("""
            with torch.cuda._DeviceGuard(0), torch.cuda.device(x.device), torch.cuda.device_of(x):
                with torch.cuda.device("cuda:0"): y = self.linear(x)
            assert torch.accelerator.current_accelerator().type == "cuda" and torch.accelerator.is_available()
            assert torch.get_device_module() is torch.cuda and torch.get_device_module("cuda") is torch.cuda
            assert torch.version.cuda and torch.cuda.get_device_name(device=0)
            with torch.autocast("cuda", dtype=torch.bfloat16), torch.cuda.amp.autocast(False):
                assert isinstance(torch.autocast("cuda"), torch.amp.autocast)
            return y
        """))

    def test_guards_in_a_backward(self):
        plan, _, _ = self.plan(candidate("""
            class Double(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x): return x * 2
                @staticmethod
                def backward(ctx, grad):
                    with torch.cuda.device(grad.device): return grad * 3
        """) + forward("""
            with torch.enable_grad():
                y = x.detach().requires_grad_()
                Double.apply(y).sum().backward()
            return y.grad
        """))
        self.assertEqual(plan["alternatives"][0]["ops"][-1]["aten"], "aten::copy_", operators(plan))

    def test_calls_are_captured_and_the_constructor_is_not(self):
        self.plan(forward("""
            assert torch.cuda.is_current_stream_capturing() and torch.cuda.graphs.is_current_stream_capturing()
            return self.linear(x)
        """, "assert not torch.cuda.is_current_stream_capturing()"))

    def test_graphs_can_be_derived_from_and_not_made(self):
        derived = candidate("class Mine(torch.cuda.CUDAGraph):\n    def __init__(self): self.calls = 0\n")
        self.plan(derived + forward("return self.linear(x)"))
        for body, told in {"Mine()": "CUDAGraph", "torch.cuda.CUDAGraph()": "CUDAGraph",
                           "torch.cuda.graph(None)": "cuda.graph",
                           "torch.cuda.make_graphed_callables(self.linear, (x,))": "make_graphed_callables"}.items():
            with self.subTest(body):
                self.assertIn(told, self.refusal(derived + forward(f"{body}\nreturn x"), "not_allowed")["message"])

    def test_inductors_private_functions(self):
        plan, _, _ = self.plan(candidate("""
            from torch._C import _cuda_getCurrentRawStream as get_raw_stream
            assert_size_stride = torch._C._dynamo.guards.assert_size_stride
            empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
            reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
        """) + forward("""
            assert_size_stride(x, (64, 48), (48, 1))
            assert get_raw_stream(0) == 0
            buffer = empty_strided_cuda((64, 32), (32, 1), torch.float32)
            torch.ops.aten.addmm.out(self.linear.bias, reinterpret_tensor(x, (64, 48), (48, 1), 0), self.linear.weight.t(),
                                     out=buffer)
            return torch.ops.inductor._reinterpret_tensor(buffer, (32, 32), (32, 1), 32)
        """))
        self.assertEqual(operators(plan), ["empty_strided", "as_strided", "t", "addmm", "as_strided"])
