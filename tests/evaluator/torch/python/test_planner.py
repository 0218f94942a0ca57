"""What a plan says is what the candidate does: operators, state, constants, devices, refusals. Without a GPU."""


from support import REFERENCE, Planner, candidate, forward, needs_torch, operators, replay


def executed(text, kind="Model"):
    """The module that `text` defines, made from seed 0, and its inputs."""
    import torch

    module = {}
    exec(text, module)
    torch.manual_seed(0)
    return module[kind](*module["get_init_inputs"]()).eval(), module["get_inputs"]()


@needs_torch
class Plans(Planner):
    def same(self, text, reference=REFERENCE):
        """Replays the plan with the reference's state, and compares with the candidate executed with that state."""
        import torch

        plan, _, _ = self.plan(text, reference)
        model, inputs = executed(reference)
        state = dict(model.state_dict())
        with torch.no_grad():
            found = replay(plan, [t.clone() for t in inputs], {k: v.clone() for k, v in state.items()})
            module = {}
            exec(text, module)
            other = module["ModelNew"](*module.get("get_init_inputs", executed_arguments(reference))()).eval()
            other.load_state_dict(state, strict=False)
            expected = other(*[t.clone() for t in inputs])
        expected = list(expected) if isinstance(expected, tuple) else [expected]
        self.assertEqual(len(found), len(expected))
        for a, b, told in zip(found, expected, plan["alternatives"][0]["outputs"]):
            torch.testing.assert_close(a, b)
            self.assertEqual((told["shape"], told["stride"]), (list(b.shape), list(b.stride())))
        return plan

    def test_says_who_it_is(self):
        reply, _ = self.ask(do="hello")
        self.assertTrue(reply["ok"])
        self.assertLessEqual({"torch", "triton", "python", "cuda_build"}, reply.keys())

    def test_plans_the_reference_itself(self):
        plan, cubins, summary = self.plan(None)
        self.assertEqual(operators(plan), ["t", "addmm", "gelu"])
        self.assertEqual(set(plan["state"]), {"linear.weight", "linear.bias"})
        self.assertEqual((plan["version"], plan["arch"], plan["setup"], cubins), (1, 90, [], []))
        self.assertEqual(plan["inputs"], [{"id": plan["inputs"][0]["id"], "dtype": "float32", "shape": [64, 48],
                                            "stride": [48, 1], "offset": 0, "storage": 0}])
        self.assertEqual((summary["launches"], summary["heavy"]), (0, {"aten::addmm": 1}))

    def test_views_aliases_and_in_place(self):
        self.same(forward("""
            y = self.linear(x)
            v = y.view(32, 64).t()[3:9]
            v.mul_(2).add_(1)
            y[:, 0] = 5
            y[y > 3] = 0.5
            dead = torch.exp(y)
            return y, v, y.transpose(0, 1)
        """))

    def test_safe_forms(self):
        """In-place changes of a shape, also of an input, and promises that nobody needs."""
        plan = self.same(forward("""
            a, b = self.linear(x).unsafe_split(32)
            c, d = torch.unsafe_split_with_sizes(x, (16, 48))
            e, f = x.unsafe_chunk(2)
            whole = x
            x.unsqueeze_(0).transpose_(1, 2)
            y = a * 2
            y.t_().unsqueeze_(1).swapaxes_(0, 2).squeeze_(1)
            z = b + 1
            w = z.detach()
            z.as_strided_((4, 8), (32, 1)).detach_()
            z.mul_(3)
            return y, w, z, whole.squeeze(0), c + e[:16], f + x.sum(), d
        """))
        self.assertLessEqual({"split", "split_with_sizes", "unsqueeze", "transpose", "as_strided"}, set(operators(plan)))

    def test_evaluation_draws_nothing(self):
        plan, _, _ = self.plan(forward("""
            with torch.inference_mode():
                y = F.dropout(self.linear(x), training=False) + F.rrelu(torch.alpha_dropout(x[:, :32], 0.5, False))
            y = torch.native_dropout(self.act(y), 0.5, False)[0]
            return F.scaled_dot_product_attention(y, y, y) + F.rrelu_(torch.feature_dropout(y, 0.3, False))
        """, "self.act = nn.Sequential(nn.RReLU(), nn.Dropout(), nn.AlphaDropout(), nn.Dropout2d())"))
        self.assertNotIn("draws", plan)

    def test_lazy_modules(self):
        reference = REFERENCE.replace("nn.Linear(cols, 32)", "nn.Sequential(nn.LazyLinear(32), nn.LazyBatchNorm1d())")
        text = candidate("""
            class ModelNew(nn.Module):
                def __init__(self, cols):
                    super().__init__()
                    self.linear = nn.Sequential(nn.Linear(cols, 32), nn.LazyBatchNorm1d())
                def forward(self, x):
                    return F.gelu(self.linear(x))
        """)
        own, _, _ = self.plan(None, reference)
        plan, _, _ = self.plan(text, reference, cast=True)
        self.assertEqual((plan["alternatives"], plan["state"]), (own["alternatives"], own["state"]))
        self.assertEqual((plan["setup"], len(plan["state"])), ([], 6))
        error = self.refusal(text.replace("nn.Linear(cols, 32)", "nn.LazyLinear(31)"), "other_parameters", reference)
        self.assertIn("linear.0.weight is float32[31, 48]", error["message"])

    def test_copies_of_modules(self):
        """A copy of the mode of fakes took long, and often crashed."""
        self.plan(forward("return self.copy(x)", """
            import copy
            self.copy = copy.deepcopy(self.linear)
            assert self.copy.weight.fake_mode is self.linear.weight.fake_mode
        """))

    def test_keeps_the_work_that_plain_pytorch_does_in_vain(self):
        plan, _, _ = self.plan(forward("unused = torch.exp(x).t(); z = torch.rand(3); a = torch.empty(9); return self.linear(x)",
                                       "self.never = torch.arange(9.0) * 2"))
        self.assertEqual((operators(plan), plan["setup"]), (["exp", "t", "addmm"], []))

    def test_keeps_what_changes_an_input(self):
        plan, _, _ = self.plan(forward("x.mul_(2); return self.linear(x) * 1"))
        self.assertIn("mul_", operators(plan))

    def test_buffers_of_the_constructor_are_set_up(self):
        plan = self.same(forward("return self.linear(x) * self.scale + self.steps + self.table[2] + self.turned.sum()", """
            self.register_buffer("scale", torch.tensor([1.5, 2.5] * 16))
            self.steps = torch.arange(32) * 2
            self.table = torch.tensor([0.0, float("inf"), 3.0])
            self.turned = torch.ones(4, 4).t().contiguous()
        """))
        self.assertEqual(operators(plan).count("addmm"), 1)
        self.assertEqual([c["constant"]["values"] for c in plan["setup"] if "constant" in c][1], [0.0, {"float": "inf"}, 3.0])

    def test_a_constructor_reads_what_it_computes_from_numbers(self):
        plan = self.same(forward("return self.linear(x) * self.rates[2] + self.two + self.table", """
            steps = torch.linspace(0, 0.1, 5)
            self.rates = [rate.item() for rate in steps.split(1)]
            self.two = int(torch.arange(4).pow(2).sum() - 12)
            self.table = steps.mean() * torch.logspace(0, 1, 4)[0]
            assert steps.tolist()[-1] == self.rates[4] and steps.max() > 0.09
        """))
        self.assertEqual(operators(plan), ["t", "addmm", "mul", "add", "add"])

    def test_what_a_constructor_puts_on_the_device_is_made_there(self):
        for table in ("torch.arange(32, device='cuda') * 2", "torch.linspace(0, 1, 32).cuda() * 2"):
            with self.subTest(table):
                plan, _, _ = self.plan(forward("return self.linear(x) + self.table", f"self.table = {table}"))
                self.assertEqual(operators(plan), ["t", "addmm", "add"])

    def test_what_a_constructor_draws_or_overwrites_has_no_values(self):
        for body in ("self.rate = torch.rand(3)[0].item()", "s = torch.arange(3.0); s.normal_(); self.rate = s[0].item()",
                     "s = torch.arange(3.0); s.view(3)[:2].add_(torch.rand(2)); self.rate = s[0].item()",
                     "self.rate = torch.arange(5000).sum().item()", "self.rate = self.linear.weight.mean().item()"):
            with self.subTest(body):
                self.refusal(forward("return self.linear(x) * self.rate", body), "reads_values")

    def test_tensors_made_of_parameters_are_made_of_the_references(self):
        plan, _, _ = self.plan(forward("return x @ self.turned", "self.turned = self.linear.weight.t().contiguous()"))
        self.assertEqual(list(plan["state"]), ["linear.weight"])
        self.assertIn("clone", [op["aten"].removeprefix("aten::") for op in plan["setup"]])

    def test_modules_are_cast_if_the_task_says_so(self):
        wide = forward("return F.gelu(self.linear(x)) + self.shift",
                       "self.register_buffer('shift', torch.zeros(32, dtype=torch.float64))")
        for cast, dtype in ((False, "float64"), (True, "float32")):
            plan, _, _ = self.plan(wide, cast=cast)
            self.assertEqual(plan["alternatives"][0]["outputs"][0]["dtype"], dtype)
        self.refusal(wide, "bad_request", fault="machine", cast=1)

    def test_what_was_cast_is_no_longer_what_the_constructor_made(self):
        product = forward("return torch.mm(x.double(), self.wide).float()",
                          "self.register_buffer('wide', self.linear.weight.double().t())")
        self.assertIn("mm", operators(self.plan(product)[0]))
        error = self.refusal(product, "plan_failed", cast=True)
        self.assertIn("aten::mm takes tensors of one dtype, and is given float64 and float32", error["message"])
        self.assertEqual((error["where"][:13], "cast: true" in error["hint"]), ("candidate.py:", True))

    def test_inputs_are_cast_with_the_modules(self):
        reference = REFERENCE.replace("torch.randn(64, 48)", "torch.randn(48, 128).double().t()[::2]")
        for cast, dtype in ((False, "float64"), (True, "float32")):
            plan, _, _ = self.plan(forward("return x + 1"), reference, cast=cast)
            self.assertEqual((plan["inputs"][0]["dtype"], plan["inputs"][0]["stride"]), (dtype, [2, 128]))

    def test_initialisation_of_parameters_is_left_out(self):
        plan, _, _ = self.plan(forward("return self.linear(x)", """
            nn.init.normal_(self.linear.weight)
            self.linear.bias.data.zero_()
            w = torch.randn(32, 48) * 0.02
            self.linear.weight = nn.Parameter(w)
            self.linear = self.linear.to("cuda")
        """))
        self.assertEqual(plan["setup"], [])
        self.assertEqual(set(plan["state"]), {"linear.weight", "linear.bias"})

    def test_devices_are_what_a_candidate_expects(self):
        plan, _, _ = self.plan(forward("""
            assert x.is_cuda and x.device.type == "cuda" and x.device == torch.device("cuda", 0) and x.is_contiguous()
            assert self.linear.weight.device == x.device and x.get_device() == 0 and x.data_ptr() % 16 == 0
            assert torch.cuda.is_available() and torch.cuda.current_device() == 0
            assert torch.cuda.get_device_properties(x.device).multi_processor_count > 100
            assert torch.cuda.get_device_capability() == (9, 0)
            a = torch.empty_like(x)
            b = torch.zeros(64, 48, device="cuda")
            c = torch.ones(64, 48, device=x.device, dtype=x.dtype)
            with torch.device("cuda"), torch.cuda.device(x.device):
                d = torch.full((64, 48), 2.0)
            assert a.is_cuda and b.is_cuda and c.is_cuda and d.is_cuda
            print(x, x.shape)
            torch.cuda.synchronize()
            return self.linear.to("cuda:0")((x + b + c + d).cuda().to("cuda"))
        """))
        self.assertEqual(operators(plan)[:6], ["zeros", "ones", "full", "add", "add", "add"])
        self.assertEqual(plan["alternatives"][0]["ops"][0]["kwargs"]["device"], {"device": True})

    def test_library_calls_are_recorded_whole(self):
        reference = REFERENCE.replace("return F.gelu(self.linear(x))", """
        q = self.linear(x).view(2, 8, 4, 32)
        return F.scaled_dot_product_attention(q, q, q, is_causal=True), self.lstm(self.linear(x).view(8, 8, 32))[0], \\
            self.norm(self.linear(x).view(8, 8, 32))""").replace("nn.Linear(cols, 32)", """nn.Linear(cols, 32)
        self.lstm = nn.LSTM(32, 16, 2, batch_first=True, bidirectional=True)
        self.norm = nn.BatchNorm1d(8)""")
        plan, _, _ = self.plan(None, reference)
        self.assertLessEqual({"scaled_dot_product_attention", "lstm", "batch_norm"}, set(operators(plan)))
        self.assertEqual([out["shape"] for out in plan["alternatives"][0]["outputs"]],
                         [[2, 8, 4, 32], [8, 8, 32], [8, 8, 32]])

    def test_cudnn_does_not_move_what_a_device_would_hold(self):
        model = REFERENCE.replace("nn.Linear(cols, 32)", """nn.Linear(cols, 32)
        torch.backends.cudnn.is_acceptable = lambda _: True
        torch._use_cudnn_rnn_flatten_weight = lambda: True
        self.gru = nn.GRU(32, 16)""").replace("return F.gelu(self.linear(x))", "return self.gru(self.linear(x))[0]")
        plan, _, _ = self.plan(None, model)
        self.assertIn("gru", operators(plan))

    def test_a_constant_that_a_call_writes_is_copied_first(self):
        self.same(forward("""
            count = torch.tensor([1.0, 2.0])
            count.add_(x[0, 0])
            return count * 2
        """))

    def test_inputs_may_be_nested_and_hold_numbers(self):
        reference = REFERENCE.replace("[torch.randn(64, 48)]", "[(torch.randn(4), torch.ones(4, dtype=torch.int64)), 3]") \
                             .replace("forward(self, x)", "forward(self, pair, n)") \
                             .replace("F.gelu(self.linear(x))", "pair[0] * pair[1] + n")
        plan, _, _ = self.plan(None, reference)
        self.assertEqual([entry["dtype"] for entry in plan["inputs"]], ["float32", "int64"])


@needs_torch
class Refusals(Planner):
    def test_source(self):
        error = self.refusal("class ModelNew(:\n", "syntax_error")
        self.assertEqual((error["where"], error["stage"]), ("candidate.py:1", "compile"))
        self.refusal(candidate("class Model(nn.Module): pass"), "no_model_new")
        error = self.refusal("\n\nraise ValueError('broken')\n", "plan_failed", name="mine.py")
        self.assertEqual((error["where"], error["message"]), ("mine.py:3", "ValueError: broken"))
        self.refusal("import no_such_module_anywhere", "plan_failed")

    def test_constructor_and_parameters(self):
        error = self.refusal(candidate("""
            class ModelNew(nn.Module):
                def __init__(self): super().__init__()
        """), "other_constructor")
        self.assertEqual(error["where"], "candidate.py:8")
        error = self.refusal(forward("return self.linear(x)", "self.linear = nn.Linear(cols, 31)"), "other_parameters")
        self.assertIn("linear.weight is float32[31, 48], in the reference float32[32, 48]", error["message"])

    def test_values(self):
        for body in ("return self.linear(x) * x.sum().item()", "return x if x.sum() > 0 else -x", "return x[x > 0]",
                     "return torch.nonzero(x)", "return x * float(x.cpu().numpy()[0, 0])", "return x * x.tolist()[0][0]",
                     "x[x > 0] = x[0]; return x", "s = torch.cuda.Event(); return x * s.elapsed_time(s)"):
            with self.subTest(body):
                error = self.refusal(forward(body), "reads_values")
                self.assertEqual(error["where"], "candidate.py:13")

    def test_operators(self):
        for body, told in {
            "return self.linear(x) + torch.poisson(x)[0, :32]": "aten::poisson",
            "return F.dropout(self.linear(x))": "aten::dropout",
            "return F.rrelu(self.linear(x), training=True)": "aten::rrelu_with_noise",
            "if not hasattr(self, 'late'): self.late = nn.Linear(48, 32)\nreturn self.late(x)": "makes and draws late.bias",
            "return torch.compile(lambda v: v * 2)(x)": "torch.compile",
            "y = x * 1; y.resize_(128); return y": "resize_",
            "return torch.mm(x, x.t(), out=torch.empty(3, 3))": "changes the shape of its `out`",
        }.items():
            with self.subTest(body):
                self.assertIn(told, self.refusal(forward(body), "not_allowed")["message"])

    def test_constants_are_not_weights(self):
        error = self.refusal(forward("return x @ self.w", "self.w = torch.tensor([[0.5] * 128] * 48)"), "not_allowed")
        self.assertIn("a constant tensor of 6144 numbers: at most 4096", error["message"])

    def test_size(self):
        self.refusal(forward("return self.linear(x)"), "plan_too_large", most_bytes=100)
        self.refusal(forward("for _ in range(30000): x = x + 1\nreturn x"), "plan_too_large")

    def test_the_reference_is_the_tasks(self):
        error = self.refusal(None, "reference_failed", "x = 1\nraise ValueError\n", fault="task")
        self.assertEqual(error["where"], "reference.py:2")
        self.refusal(None, "reference_failed", "import os\nos._exit(0)", fault="task")

    def test_requests(self):
        for request in ({"do": "dance"}, {"do": "plan"}, {"do": "plan", "reference": "", "timeout_s": "long"}):
            self.assertEqual(self.ask(**request)[0]["error"]["code"], "bad_request")
        self.refusal(None, "unknown_device", fault="task", arch=61)


def executed_arguments(reference):
    module = {}
    exec(reference, module)
    return module["get_init_inputs"]
