"""What a reference may declare: fixed values, inputs that are not varied, infinite outputs, least bytes, a check of its own."""

import types
import unittest
from unittest import mock

import torch

from support import HEAD, Planner, candidate
from worker_bench import bench_for

from kernelsmith_process.framing import Failure
from kernelsmith_torch.declared import Declared

PAGES = HEAD + """
class Model(nn.Module):
    def forward(self, x, indptr):
        parts = [x[begin:end].sum(0) for begin, end in zip(indptr[:-1].tolist(), indptr[1:].tolist())]
        return torch.stack(parts)
def get_fixed(rows=9):
    return {"indptr": torch.tensor([0, 3, rows], dtype=torch.int32)}
def get_inputs(rows=9):
    return [torch.randn(rows, 16), None]
"""
AT = [{"name": "five", "arguments": {"rows": 5}}, {"name": "nine", "arguments": {"rows": 9}}]


class Fixed(Planner):
    def test_a_candidate_may_read_what_a_workload_fixes(self):
        text = candidate("""
            class ModelNew(nn.Module):
                def forward(self, x, indptr):
                    ends = indptr.tolist()
                    lengths = (indptr[1:] - indptr[:-1]).cpu()
                    assert int(lengths.max()) == max(b - a for a, b in zip(ends, ends[1:]))
                    return torch.stack([x[a:b].sum(0) for a, b in zip(ends, ends[1:])])
            """)
        reply, blob = self.ask(do="plan", reference=PAGES, candidate=text, workloads=AT, timeout_s=120)
        self.assertNotIn("error", reply)
        self.assertEqual(len(reply["plans"]), 2)
        bench = bench_for(self, PAGES, workloads=AT[1:])
        bench.runner.prepare({"reference": bench.path, "precision": "fp32",
                              "workloads": [{**AT[1], **bench.prepared["workloads"][0]}]}, b"")
        bench.runner.load({}, blob[reply["plans"][0]["bytes"]:])
        self.assertIsNone(bench.again([101, 102], 0)["wrong"])

    def test_values_end_with_what_is_written_or_drawn(self):
        for reads in ("y = indptr.clone(); y[:1].expand(5000)[0].fill_(7); y.tolist()", "torch.rand_like(indptr.float()).tolist()",
                      "indptr.new_empty(4).tolist()", "torch.empty_like(indptr).tolist()"):
            with self.subTest(reads):
                text = candidate(f"""
                    class ModelNew(nn.Module):
                        def forward(self, x, indptr):
                            {reads}
                            return torch.stack([x[:3].sum(0), x[3:].sum(0)])
                    """)
                reply, _ = self.ask(do="plan", reference=PAGES, candidate=text, workloads=AT[:1], timeout_s=120)
                self.assertEqual(reply.get("error", {}).get("code"), "reads_values", reply)

    def test_values_end_with_what_a_kernel_writes(self):
        # Writing the input itself is `input_modified`, so a kernel that gets it may be trusted to read it.
        for given, ends in (("indptr", False), ("copied", True), ("copied[1:]", True)):
            with self.subTest(given):
                text = candidate(f"""
                    import triton, triton.language as tl
                    @triton.jit
                    def write(y_ptr, x_ptr):
                        tl.store(y_ptr, tl.load(x_ptr).to(tl.int32))
                    class ModelNew(nn.Module):
                        def forward(self, x, indptr):
                            copied = indptr.clone()
                            write[(1,)]({given}, x)
                            assert indptr.tolist() == [0, 3, 5]
                            copied.tolist()
                            return torch.stack([x[:3].sum(0), x[3:].sum(0)])
                    """)
                reply, _ = self.ask(do="plan", reference=PAGES, candidate=text, workloads=AT[:1], timeout_s=120)
                self.assertEqual(reply.get("error", {}).get("code"), "reads_values" if ends else None, reply)

    def test_what_is_drawn_stays_unseen(self):
        for reads in ("x.sum().item()", "(x[0] * indptr[1]).tolist()", "x[:, 0].to(torch.int32).tolist()",
                      "x.view(-1)[indptr.long()].tolist()", "torch.where(indptr[:1] > 0, x[0, :1], 0).item()",
                      "indptr.copy_(x[:3, 0]).tolist()", "x.copy_(indptr[:1]).add_(1).tolist()",
                      "torch.as_strided(x, (3,), (1,)).tolist()"):
            with self.subTest(reads):
                text = candidate(f"""
                    class ModelNew(nn.Module):
                        def forward(self, x, indptr):
                            {reads}
                            return torch.stack([x[:3].sum(0), x[3:].sum(0)])
                    """)
                reply, _ = self.ask(do="plan", reference=PAGES, candidate=text, workloads=AT[:1], timeout_s=120)
                self.assertEqual(reply.get("error", {}).get("code"), "reads_values", reply)


class Declarations(unittest.TestCase):
    def test_what_a_workload_fixes_is_the_same_everywhere(self):
        text = ("import torch\nclass Model(torch.nn.Module):\n    def forward(self, x, p):\n        return x[p]\n"
                "def get_fixed():\n    return {'p': torch.randperm(64)}\ndef get_inputs():\n    return [torch.rand(64, 64), None]\n")
        reference = bench_for(self, text).judge._workloads[0]._reference
        drawn = [reference.draw(variant, seed).tensors()[1].tolist() for variant, seed in ((0, 1), (1, 2), (0, 3))]
        self.assertEqual(drawn, [drawn[0]] * 3)
        module = types.SimpleNamespace(Model=reference._module.Model, get_fixed=reference._module.get_fixed)
        self.assertEqual(Declared(module).fixed({})[1].tolist(), drawn[0], "as the planner has it")

    def test_a_check_that_does_not_take_the_outputs_blames_the_candidate(self):
        text = """
            import torch
            class Model(torch.nn.Module):
                def forward(self, x):
                    return x.argsort(-1)
            def get_inputs():
                return [torch.randn(8, 16)]
            def check(outputs, x):
                return None if (x.gather(-1, outputs[0]).diff() >= 0).all() else "not sorted"
            """
        bench = bench_for(self, text)
        own = {"variant": 0, "sets": [7]}
        bench.judge.yardstick(own, b"")
        self.assertIsNone(bench.judge.compare({**own, "own": True}, b"")["wrong"])
        bench.judge._workloads[0]._own[0][0][0, 0] = 99
        with self.assertRaises(Failure) as failed:
            bench.judge.compare({**own, "own": True}, b"")
        self.assertEqual((failed.exception.fault, failed.exception.stage, failed.exception.code),
                         ("candidate", "correctness", "wrong_output"))
        lost = RuntimeError("CUDA error: device-side assert triggered")
        with self.assertRaises(Failure) as failed, mock.patch.object(bench.judge._workloads[0]._declared, "check", side_effect=lost):
            bench.judge.compare({**own, "own": True}, b"")
        self.assertEqual(failed.exception.code, "crashed", "so that the process is replaced")
        with self.assertRaises(Failure) as failed:
            wrong = bench_for(self, text.replace("None if", "True if"))
            wrong.judge.yardstick(own, b"")
            wrong.judge.compare({**own, "own": True}, b"")
        self.assertEqual(failed.exception.fault, "task")

    def test_inputs_that_are_not_varied(self):
        forward = "class Model(torch.nn.Module):\n    def forward(self, x, p):\n        return x * torch.log(p)\n"
        inputs = "def get_inputs():\n    return [torch.rand(8, 64), torch.rand(8, 64) * .5 + .25]\n"
        bench = bench_for(self, "import torch\n" + forward + "unvaried = ['p']\n" + inputs)
        drawn, scaled = (bench.judge._workloads[0]._reference.draw(variant, 7).tensors() for variant in (0, 1))
        self.assertTrue(scaled[1].equal(drawn[1]))
        self.assertTrue(scaled[0].equal(4 * drawn[0]))
        with self.assertRaises(Failure) as failed:
            bench_for(self, "import torch\n" + forward + "unvaried = ['q']\n" + inputs)
        self.assertIn("unvaried names 'q', and forward() takes x, p", failed.exception.message)

    def test_infinite_outputs(self):
        text = ("import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
                "        return x.masked_fill(x > .9, float('-inf')).logsumexp(-1), x.masked_fill(x > .5, float('-inf'))\n"
                "def get_inputs():\n    return [torch.rand(70, 96)]\n")
        with self.assertRaises(Failure) as failed:
            bench_for(self, text)
        self.assertEqual(failed.exception.code, "not_finite")
        self.assertIn("may_be_infinite", failed.exception.hint)
        bench = bench_for(self, "may_be_infinite = True\n" + text)
        own = {"variant": 0, "sets": [7, 8]}
        bench.judge.yardstick(own, b"")
        self.assertIsNone(bench.judge.compare({**own, "own": True}, b"")["wrong"])
        bench.judge._workloads[0]._own[0][1].clamp_(min=-1e30)
        self.assertEqual(bench.judge.compare({**own, "own": True}, b"")["wrong"]["kind"], "not_finite")

    def test_bytes_that_a_call_must_read(self):
        text = ("import torch\nclass Model(torch.nn.Module):\n    def forward(self, table, at):\n        return table[at] * 2\n"
                "def get_inputs():\n    return [torch.rand(1000, 64), torch.randint(0, 1000, (10,))]\n")
        self.assertEqual(bench_for(self, text).prepared["compulsory_bytes"], 1000 * 64 * 4 + 80)
        least = "def least_bytes(table, at):\n    return at.unique().numel() * table[0].nbytes\n"
        self.assertLessEqual(bench_for(self, text + least).prepared["compulsory_bytes"], 10 * 64 * 4)

    def test_eight_bit_floats(self):
        for dtype in ("torch.float8_e4m3fn", "torch.float8_e5m2"):
            text = (f"import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        y = x.float() * .5\n"
                    f"        return y, y.to({dtype})\ndef get_inputs():\n    return [torch.randn(70, 128).to({dtype})]\n")
            bench = bench_for(self, text)
            for variant, _ in enumerate(bench.prepared["variants"]):
                own = {"variant": variant, "sets": [7, 8]}
                bench.judge.yardstick(own, b"")
                self.assertIsNone(bench.judge.compare({**own, "own": True}, b"")["wrong"])
            bench.judge._workloads[0]._own[1][1].view(torch.uint8)[3, 5] ^= 0x40
            self.assertIsNotNone(bench.judge.compare({**own, "own": True}, b"")["wrong"])

    def test_a_check_of_its_own(self):
        text = """
            import torch
            class Model(torch.nn.Module):
                def forward(self, x):
                    return torch.linalg.qr(x)
            def get_inputs():
                return [torch.randn(24, 16)]
            def check(outputs, x):
                q, r = outputs
                if not torch.allclose(q @ r, x, atol=1e-4):
                    return f"q r differs from x by {(q @ r - x).abs().max():.2g}"
            """
        bench = bench_for(self, text)
        own = {"variant": 0, "sets": [7, 8]}
        bench.judge.yardstick(own, b"")
        for outputs in bench.judge._workloads[0]._own:  # another decomposition is right, too
            outputs[0].neg_(), outputs[1].neg_()
        self.assertIsNone(bench.judge.compare({**own, "own": True}, b"")["wrong"])
        bench.judge._workloads[0]._own[1][0].add_(1)
        wrong = bench.judge.compare({**own, "own": True}, b"")["wrong"]
        self.assertEqual((wrong["kind"], wrong["call"]), ("check", 1))
        self.assertIn("q r differs from x by", wrong["problem"])
        bench.judge._workloads[0]._own[0][0].fill_(float("nan"))
        self.assertIn("NaN", bench.judge.compare({**own, "own": True}, b"")["wrong"]["problem"])
        bench.judge._workloads[0]._own[0][1] = torch.zeros(1, 16)
        self.assertEqual(bench.judge.compare({**own, "own": True}, b"")["wrong"]["kind"], "shape")


if __name__ == "__main__":
    unittest.main()
