"""Extensions of candidates: what C++ and CUDA do on fakes becomes entries of the plan. Compiled here, run nowhere."""

import base64
import os
import struct
import unittest

import extension_builder
from kernelsmith_process.framing import read_message, write_message
from support import HEAD, REFERENCE, Planner, needs_torch, operators, replay

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "extension_fixture.cu"), encoding="utf-8") as file:
    FIXTURE = file.read()

LOAD = HEAD + f"""
from torch.utils.cpp_extension import load_inline
e = load_inline(name="fixture", cpp_sources="", cuda_sources=r'''{FIXTURE}''', extra_cuda_cflags=["-O3"])
"""
OTHER = """
__global__ void add_one(const float* x, float* y, int n, float more) { y[threadIdx.x] = x[threadIdx.x] + more; }
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  add_one<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), 1, 2.0f);
  return y;
}
"""

Builder = extension_builder.Builder()
"""The builds of all tests: each extension is built once."""


def model(body, constructor="", load=LOAD):
    return f"""{load}
class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.linear = nn.Linear(cols, 32)
        {constructor}
    def forward(self, x):
        {body}
"""


@needs_torch
@unittest.skipUnless(extension_builder.available(), "no nvcc, or libkernelsmith_extension.so is not built")
class Extension(Planner):
    @classmethod
    def setUpClass(cls):
        os.environ["KERNELSMITH_EXTENSION_LIBRARY"] = extension_builder.library()
        super().setUpClass()

    def ask(self, **request):
        """Builds what is asked for."""
        for _ in range(4):
            write_message(self.process.stdin, {**request, "builds": Builder.builds}, Builder.blob)
            reply, blob = read_message(self.process.stdout)
            if "build" not in reply:
                return reply, blob
            Builder.add(reply["build"])
        raise AssertionError("it asks for the same build again")

    def entries(self, body, **more):
        """The entries of a call, without operators."""
        plan, _, _ = self.plan(model(body, **more))
        return plan, [op for op in plan["alternatives"][0]["ops"] if "aten" not in op]

    def params(self, run, layout):
        return struct.unpack_from(layout, base64.b64decode(run["params"]))


class Launches(Extension):
    def test_a_launch_names_tensors_and_numbers(self):
        plan, (run,) = self.entries("return e.add(self.linear(x))")
        self.assertIn("add_one", run["kernel"])
        self.assertEqual((run["run"], run["grid"], run["block"], run["shared"]), (0, [8, 1, 1], [256, 1, 1], 0))
        self.assertEqual(self.params(run, "<QQi"), (0, 0, 64 * 32))
        (first, source, at), (second, to, end) = run["pointers"]
        self.assertEqual((first, at, second, end), (0, 0, 8, 0))
        self.assertEqual(to["t"], plan["alternatives"][0]["outputs"][0]["id"])
        self.assertNotEqual(source, to)
        self.assertTrue(run["line"].startswith("candidate.py:"))
        self.assertEqual(len(plan["modules"]), 1)
        self.assertGreater(plan["modules"][0]["size"], 1000)

    def test_pointers_in_structures_and_inside_of_a_tensor(self):
        _, (run,) = self.entries("return e.add_struct(x)")
        self.assertEqual([(at, byte) for at, _, byte in run["pointers"]], [(8, 48 * 4), (16, 0)])
        self.assertEqual(self.params(run, "<i4xQQ"), (64 * 48, 0, 0))

    def test_views_point_into_their_storage(self):
        plan, (run,) = self.entries("return e.add(x[3:])")
        self.assertEqual(run["pointers"][0], [0, {"t": plan["inputs"][0]["id"]}, 3 * 48 * 4])

    def test_parameters_of_the_reference(self):
        plan, (run,) = self.entries("return e.add(self.linear.weight)")
        self.assertEqual(run["pointers"][0], [0, {"t": plan["state"]["linear.weight"]}, 0])

    def test_element_types_and_shared_memory(self):
        for dtype, letter in (("float", "f"), ("double", "d")):
            _, (run,) = self.entries(f"return e.dispatched(x.{dtype}())")
            self.assertIn(f"scaleI{letter}E", run["kernel"])
            self.assertNotIn("max_shared", run)
        _, (run,) = self.entries("return e.dispatched(x.half(), shared=100000)")
        self.assertIn("scaleIN3c104HalfEE", run["kernel"])
        self.assertEqual((run["shared"], run["max_shared"]), (100000, 100000))

    def test_memory_copies_and_variables(self):
        plan, entries = self.entries("return e.memory(x)")
        memset, copy, symbol, on_device, run = entries
        workspace = memset["memset"]
        x = {"t": plan["inputs"][0]["id"]}
        size = 64 * 48 * 4
        self.assertEqual((memset["at"], memset["bytes"], memset["value"]), (0, size, 1))
        self.assertEqual(copy | {"line": ""}, {"copy": workspace, "at": size, "from": x, "from_at": 0, "bytes": size,
                                               "line": ""})
        self.assertEqual((symbol["symbol"], symbol["name"], symbol["at"]), (0, "factors", 4))
        self.assertEqual(struct.unpack("<2f", base64.b64decode(symbol["data"])), (1, 2))
        self.assertEqual((on_device["name"], on_device["from"], on_device["bytes"]), ("total", x, 4))
        self.assertEqual(run["pointers"][0], [0, workspace, size])
        made = [op for op in plan["alternatives"][0]["ops"] if op.get("out") == workspace]
        self.assertEqual((made[0]["aten"], made[0]["args"]), ("aten::empty", [[2 * size]]))

    def test_work_of_the_constructor_is_setup(self):
        plan, entries = self.entries("return e.add(self.y)", constructor="self.y = e.memory(torch.ones(64, 48).cuda())")
        self.assertEqual(len(entries), 1)
        self.assertEqual([next(iter(op)) for op in plan["setup"] if "aten" not in op],
                         ["memset", "copy", "symbol", "symbol", "run"])

    def test_a_table_of_pointers(self):
        plan, (upload, run) = self.entries("return e.table(x)")
        self.assertEqual(upload["pointers"], [[0, {"t": plan["inputs"][0]["id"]}, 0]])
        self.assertEqual(base64.b64decode(upload["data"]), bytes(8))
        self.assertEqual(run["pointers"][0], [0, upload["upload"], 0])

    def test_what_a_table_points_at_may_be_written_after_it(self):
        for put in ("t = e.ends_table(b, y)", "t = e.ends_variable(b, y)"):
            for write, entry in (("b.copy_(x); b.mul_(2)", ["copy_", "mul_"]), ("e.copy_on_device(b, x)", ["copy"])):
                with self.subTest(put=put, write=write):
                    plan, _, _ = self.plan(model(f"b, y = torch.empty_like(x), torch.empty_like(x); {put}; {write}\n"
                                                 "        e.between_ends(t); return y"))
                    ops = plan["alternatives"][0]["ops"]
                    self.assertEqual([op["aten"][6:] if "aten" in op else next(iter(op)) for op in ops[-len(entry) - 1:]],
                                     [*entry, "run"])

    def test_what_a_table_of_the_constructor_points_at(self):
        plan, _, _ = self.plan(model("e.copy_on_device(self.b, x); e.between_ends(self.t); return self.b * 1",
                                     constructor="self.b = torch.empty(64, 48, device='cuda')\n"
                                                 "        self.t = e.ends_table(self.b, self.b); self.b.fill_(1.0)"))
        self.assertEqual([op.get("aten") or next(iter(op)) for op in plan["setup"]],
                         ["aten::empty", "aten::empty", "upload", "aten::fill_"])

    def test_a_copy_of_a_table_of_the_constructor(self):
        for copy, told in (("self.u = t.clone()", "aten::clone"), ("self.u = torch.cat([t, t])", "aten::cat"),
                           ("self.u = torch.empty_like(self.t); e.copy_on_device(self.u, t)", "cudaMemcpy")):
            with self.subTest(copy):
                text = model("y = torch.empty_like(x); e.between_ends(self.u); return y",
                             constructor="self.b = torch.ones(64, 48, device='cuda')\n"
                                         "        self.t = torch.empty(16, dtype=torch.uint8, device='cuda')\n"
                                         f"        t = e.ends_table(self.b, self.b); {copy}")
                error = self.refusal(text, "not_allowed")
                self.assertIn(f"{told} copies a table of pointers", error["message"])
        self.plan(model("y = torch.empty_like(x); e.between_ends(self.u.clone()); return y",
                        constructor="self.b = torch.ones(64, 48, device='cuda')\n"
                                    "        self.u = e.ends_table(self.b, self.b)[:16].view(16)"))

    def test_bytes_of_a_structure_that_nobody_wrote(self):
        _, (run,) = self.entries("return e.several([x, x * 2])")
        self.assertEqual([at for at, _, _ in run["pointers"]], [0, 8, 56])
        self.assertEqual(self.params(run, "<6QiI"), (0,) * 6 + (2, 0))
        _, (run,) = self.entries("return e.returned(x * 2)")
        self.assertEqual(self.params(run, "<QQ"), (0, 0))
        error = self.refusal(model("return e.several([x, x * 2], on_heap=True)"), "address_as_number")
        self.assertIn("uninitialised bytes of the kernel's argument 0: byte 1", error["message"])
        self.assertIn("P p{}", error["hint"])

    def test_half_types_are_compared_on_the_device(self):
        for dtype, name in (("half", "4Half"), ("bfloat16", "8BFloat16")):
            _, (run,) = self.entries(f"return e.clipped(x.{dtype}())")
            self.assertIn(name, run["kernel"])

    def test_kernels_of_one_name_in_two_extensions(self):
        load = LOAD + f"o = load_inline('other', 'torch::Tensor run(torch::Tensor x);', r'''{OTHER}''', ['run'])"
        plan, (first, second) = self.entries("return o.run(e.add(x))", load=load)
        self.assertEqual((first["run"], second["run"]), (0, 1))
        self.assertEqual(len(plan["modules"]), 2)
        self.assertEqual(self.params(second, "<QQif"), (0, 0, 1, 2.0))

    def test_summary(self):
        _, _, summary = self.plan(model("return e.add(e.add(x))"))
        self.assertEqual((summary["launches"], summary["extension_errors"]), (2, []))
        self.assertEqual(len(summary["own_kernels"]), 1)


class Cpp(Extension):
    def same(self, body, expected):
        """Replays a plan without work of an extension's own on the CPU."""
        import torch

        plan, _, _ = self.plan(model(body))
        torch.manual_seed(0)
        x, w, b = torch.randn(64, 48), torch.randn(32, 48), torch.randn(32)
        found = replay(plan, [x.clone()], {"linear.weight": w.clone(), "linear.bias": b.clone()})
        torch.testing.assert_close(found[0], expected(x, w, b))
        return plan

    def test_operators(self):
        import torch

        def expected(x, w, b):
            y = (x @ w.t()).add_(1).relu()
            z = (2.0 * y + y * 3 - 1) / (1.0 / (y + 1))
            most, where = z.chunk(2, 1)[0].max(1, keepdim=True)
            z = z + most + where.float()
            z = z + torch.softmax(x.sum(1, keepdim=True), 1) + 0.5 + x[:, :1]
            z += torch.nn.functional.gelu(z, approximate="tanh")
            return torch.addmm(z, x, w.t(), beta=0.5, alpha=2.0).clamp(min=-1)

        plan = self.same("return e.operators(x, self.linear.weight)", expected)
        self.assertLessEqual({"mm", "relu", "max", "cat", "addmm", "gelu"}, set(operators(plan)))

    def test_indices_and_single_numbers_for_lists(self):
        import torch

        def expected(x, w, b):
            y = x[1::2, ..., 3] + x[:, None, 1].squeeze(1).narrow(0, 0, 32)
            y[0:4] = 2.5
            return y + torch.conv1d(x.view(1, 64, 48), torch.ones(64, 64, 1), None, 1, 1).sum(-1)[0][:32]

        self.same("return e.indexed(x, self.linear.weight)", expected)

    def test_names_that_fewer_extensions_use(self):
        def expected(x, w, b):
            y = x @ w.t()
            y[0] = 7
            y[1] = y[2]
            return y + 10 + 3 + 0.75

        self.same("return e.others(x, self.linear.weight)", expected)
        _, (memset, _, run) = self.entries("assert (e.version, e.threads) == ('1.5', 256); return e.reduced(x)")
        self.assertEqual((memset["bytes"], run["grid"]), (64, [12, 1, 1]))

    def test_products_of_cublas(self):
        self.same("return e.product(x, self.linear.weight, self.linear.bias)", lambda x, w, b: 2 * x @ w.t() + 3 * b)

    def test_arguments_and_results(self):
        body = ("a, b, n, t = e.arguments(x, sizes=[1, 2], type=torch.int64); assert len(b) == 2 and b[0].shape == x.shape\n"
                "        assert (n, t) == (2, 'tLong'), (n, t)\n"
                "        c = e.arguments(x, a, 2, True, text='u', sizes=(), type=torch.half)\n"
                "        assert c[2:] == (10, 'uHalf'), c\n        return a + e.twice(x)[1]")
        self.assertEqual(operators(self.same(body, lambda x, w, b: 1.5 * x + 2 * x)), ["mul", "add", "mul", "mul", "add"])

    def test_wrong_arguments(self):
        for call in ("e.add()", "e.add(3)", "e.add(None)", "e.add(x, x)", "e.dispatched(x, 1.5)", "e.dispatched(x, sahred=1)",
                     "e.arguments(x, sizes=3, type=torch.half)", "e.halves('a', 1)"):
            with self.subTest(call):
                error = self.refusal(model(f"return {call}"), "plan_failed")
                self.assertIn("TypeError", error["message"])
                self.assertIn("incompatible function arguments", error["message"])

    def test_half_types_round_as_pytorch(self):
        import torch

        a, b = 1.2345, 0.03217
        expected = []
        for dtype in (torch.float16, torch.bfloat16):
            x, y = torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype)
            expected += [(x + y).item(), (x - y).item(), (x * y).item(), (x / y).item()]
        x = torch.tensor(a, dtype=torch.float16)
        expected += [(x * 3).item(), (x.float() + 0.1).item()]
        body = f"h = e.halves({a}, {b})\n        assert h == {expected}, h\n        return x"
        self.plan(model(body))

    def test_the_device(self):
        self.plan(model("assert e.multiprocessors() == 132 and e.occupancy() == 2, e.occupancy()\n        return x"))


class Refusals(Extension):
    def test_by_name(self):
        for how, code, told in (
                ("item", "reads_values", ".item()"), ("host read", "reads_values", "device memory on the host (byte 0 of"),
                ("copy to host", "not_allowed", "reading device memory on the host"),
                ("memset behind", "plan_failed", "8 bytes goes past the end of a tensor, which has 4 there"),
                ("uploads", "plan_too_large", "copied from the host in a call"),
                ("cpu write", "reads_values", "of a tensor on the CPU (byte 0 of 16)"),
                ("thread", "not_allowed", "std::thread"),
                ("variable's address", "not_allowed", "cudaGetSymbolAddress"),
                ("from a variable", "not_allowed", "copying a variable to device memory"),
                ("texture", "not_allowed", "cudaCreateTextureObject"), ("cpu tensor", "cpu_tensor", "add_one"),
                ("graph", "not_allowed", "graphs of the candidate's own"),
                ("block", "not_allowed", "a block of 2048"), ("grid", "not_allowed", "a grid of 0"),
                ("shared", "not_allowed", "100000 bytes of dynamic"),
                ("dtype", "plan_failed", "expected scalar type Double but found Float"),
                ("other exception", "plan_failed", "not a std::exception")):
            with self.subTest(how):
                error = self.refusal(model(f"return e.refused(x, {how!r})"), code)
                self.assertIn(told, error["message"])
                self.assertTrue(error["where"].startswith("candidate.py:"), error)

    def test_work_at_load_time(self):
        load = HEAD + ("from torch.utils.cpp_extension import load_inline\n"
                       "e = load_inline('early', '', '__global__ void k() {}\\nstatic int worked = (k<<<1, 1>>>(), 1);\\n'\n"
                       "                'PYBIND11_MODULE(early, m) {}')\n")
        self.assertIn("before the entry", self.refusal(model("return x", load=load), "not_allowed")["message"])

    def test_what_functions_names_must_be_declared(self):
        load = HEAD + ("from torch.utils.cpp_extension import load_inline\n"
                       "e = load_inline('undeclared', '', 'torch::Tensor run(torch::Tensor x) { return x; }', functions='run')\n")
        message = self.refusal(model("return e.run(x)", load=load), "plan_failed")["message"]
        self.assertIn("functions= names it: cpp_sources must declare it", message)

    def test_an_operators_error_keeps_its_code(self):
        self.refusal(model("return e.refused(x, 'values')"), "reads_values")

    def test_checks_of_the_extension(self):
        error = self.refusal(model("return e.add(x[0])"), "plan_failed")
        self.assertEqual(error["message"], "RuntimeError: x has sizes [48] of Float")
        error = self.refusal(model("return e.named(x)"), "plan_failed")
        self.assertEqual(error["message"], "RuntimeError: it has the type Float")

    def test_addresses_are_no_numbers(self):
        error = self.refusal(model("return x * e.halves(float(x.data_ptr()), 1.0)[4]"), "address_as_number")
        self.assertIn("at other addresses", error["message"])


class Builds(Extension):
    BROKEN = ("load_inline('broken', 'torch::Tensor run(torch::Tensor x) { return torch::no_such_function(x).nor_method(); }',"
              " functions=['run'])")

    def test_what_is_missing_is_named(self):
        error = self.refusal(model("return x", load=LOAD + self.BROKEN), "plan_failed")
        self.assertIn("Error building extension 'broken'", error["message"])
        self.assertIn("no_such_function", error["message"])
        self.assertIn("main.cpp:2:", error["message"])

    def test_names_that_no_plan_can_hold_say_why(self):
        source = ("struct F : torch::autograd::Function<F> {\n"
                  "  static torch::Tensor forward(torch::autograd::AutogradContext* c, torch::Tensor x) {\n"
                  "    c->save_for_backward({x}); return x; } };\n"
                  " struct C { int n; C(int n) : n(n) {} };\n"
                  "torch::Tensor run(torch::Tensor x) { x.accessor<float, 2>(); torch::from_blob(nullptr, {2});\n"
                  "  return F::apply(x); }\n"
                  "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { py::class_<C>(m, \"C\").def(py::init<int>()); }")
        load = LOAD + "load_inline('left_out', r'''" + source + "''')"
        error = self.refusal(model("return x", load=load), "plan_failed")
        for told in ("torch::from_blob: a plan has", "accessor(): tensors", "py::class_: an extension's",
                     "autograd::Function: a plan"):
            self.assertIn(told, error["message"])

    def test_an_error_that_is_caught_is_told(self):
        caught = HEAD + f"from torch.utils.cpp_extension import load_inline\ntry: {self.BROKEN}\nexcept Exception: pass\n"
        _, _, summary = self.plan(model("return self.linear(x)", load=caught))
        (told,) = summary["extension_errors"]
        self.assertEqual(told["name"], "broken")
        self.assertIn("no_such_function", told["error"])

    def test_nobody_catches_that_a_build_is_wanted(self):
        text = model("return x", load=HEAD + "from torch.utils.cpp_extension import load_inline\n"
                     "try: load_inline('never', 'int one() { return 1; }', functions=['one'])\nexcept BaseException: pass\n")
        write_message(self.process.stdin, {"do": "plan", "reference": REFERENCE, "candidate": text})
        reply, blob = read_message(self.process.stdout)
        self.assertEqual((set(reply) - {"ok", "id"}, blob), ({"build"}, b""))
        self.assertEqual((reply["build"]["name"], reply["build"]["units"][0]["name"]), ("never", "main.cpp"))

    def test_a_module_that_has_no_definition(self):
        text = model("return x", load=HEAD + "from torch.utils.cpp_extension import load_inline\n"
                     "load_inline('empty', 'int one() { return 1; }')")
        self.assertIn("PyInit_empty", self.refusal(text, "plan_failed")["message"])


del Extension, Planner
