"""Addresses of tensors in plans: each storage has one, and none becomes a number of the plan. Tensors left on the CPU."""

import unittest

from support import Planner, candidate, forward, launches, needs_torch, operators

COPY = candidate("""
    @triton.jit
    def copy(a, o, n, N: tl.constexpr = 0, B: tl.constexpr = 64):
        at = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(o + at, tl.load(a + at, mask=at < n) + N, mask=at < n)
""")


def copying(body: str, constructor: str = "") -> str:
    return COPY + forward(body, constructor)


@needs_torch
class OfStorages(unittest.TestCase):
    def both(self):
        from kernelsmith_torch.addresses import Addresses

        return Addresses(7), Addresses(7, mirrored=True)

    def test_each_has_its_own_and_none_comes_again(self):
        import torch

        for addresses in self.both():
            seen = set()
            for size in (1, 100, 1 << 20, 3) * 50:
                seen.add(addresses.address_of(torch.empty(size)))
            self.assertEqual(len(seen), 200)
            self.assertTrue(all(address % 512 == 0 and 0 < address < 1 << 47 for address in seen))
            ordered = sorted(seen)
            self.assertTrue(all(b - a > 1 << 24 for a, b in zip(ordered, ordered[1:])))

    def test_views_lie_in_their_storage_and_lead_back_to_it(self):
        import torch

        for addresses in self.both():
            one, two = torch.empty(64), torch.empty(64, dtype=torch.float64)
            at = addresses.address_of(one)
            self.assertEqual((addresses.address_of(one), addresses.address_of(one[5:].view(-1, 1))), (at, at + 20))
            self.assertEqual(addresses.address_of(one[:0]), 0)
            for tensor, offset in ((one, 0), (one, 255), (two, 504), (two, 512)):
                storage, found = addresses.find(addresses.address_of(tensor) + offset)
                self.assertEqual((storage._cdata, found), (tensor.untyped_storage()._cdata, offset))
            for nowhere in (0, -1, at - 1, at + 257, 1 << 62):
                self.assertIsNone(addresses.find(nowhere))

    def test_mirrored_every_bit_above_the_alignment_is_the_other_and_the_order_is_reversed(self):
        import torch

        tensors = [torch.empty(size) for size in (1, 1 << 20, 5, 1 << 22, 8)]
        straight, mirrored = ([addresses.address_of(t) for t in tensors] for addresses in self.both())
        self.assertEqual({a ^ b for a, b in zip(straight, mirrored)}, {(1 << 47) - 512})
        self.assertEqual((straight, mirrored), (sorted(straight), sorted(mirrored, reverse=True)))

    def test_nothing_depends_on_addresses_that_nobody_was_told(self):
        import torch

        addresses, _ = self.both()
        self.assertFalse(addresses.told)
        addresses.of_storage(torch.empty(3).untyped_storage())
        self.assertTrue(addresses.told)


@needs_torch
class InPlans(Planner):
    def test_refused_by_name(self):
        for body, told in (
                ("copy[(1,)](x.data_ptr(), y, 64)", "a of copy"),
                ("copy[(1,)](x, y, x[3:].data_ptr())", "n of copy is the address of a tensor (byte 576 of 12288)"),
                ("copy[(1,)](x, y, 64, N=x.untyped_storage().data_ptr())", "N of copy"),
                ("p = torch.tensor([1, y.data_ptr()]); copy[(1,)](x, y + p[0], 64)", "a number of a constant tensor"),
                ("return x + torch.tensor([x.data_ptr()], dtype=torch.float64)", "a number of a constant tensor"),
                ("t = torch.empty(2, dtype=torch.int64); t[0] = x.data_ptr(); return x + t[0]", "a number of a constant tensor"),
                ("return x + torch.full((48,), x.data_ptr())", "an argument of aten::full"),
                ("return torch.ones_like(y, dtype=torch.int64).add_(y.data_ptr())", "an argument of aten::add_")):
            with self.subTest(body):
                error = self.refusal(copying("y = torch.empty_like(x)\n" + body + "\nreturn y"), "address_as_number")
                self.assertIn(told, error["message"])
                self.assertEqual(error["where"], "candidate.py:25")

    def test_what_was_computed_from_one_is_found_by_planning_twice(self):
        for body, told in (
                ("copy[(1,)](x, y, x.data_ptr() & 0xffffffff)", "argument 2 of copy"),
                ("copy[(1,)](x, y, y.data_ptr() - x.data_ptr())", "argument 2 of copy"),
                ("copy[(1,)](x, y, 64.0 * y.data_ptr())", "argument 2 of copy"),
                ("copy[(1,)](*sorted((x, y), key=torch.Tensor.data_ptr), 64)", "argument 0 of copy"),
                ("copy[(1 + (x.data_ptr() >> 9 & 1),)](x, y, 64)", "the grid of copy"),
                ("copy[(1,)](x, y, 64, N=x.data_ptr() >> 12 & 15)", "the compiled code (a constant) of copy"),
                ("return x * (2 + (x.data_ptr() % 1024 > 0))", "argument 1 of aten::mul"),
                ("if x.data_ptr() < y.data_ptr(): return x * 2", "what is called (aten::mul)"),
                ("return torch.tensor(list(x.data_ptr().to_bytes(8, 'little'))).to(x) * x[0, 0]", "a constant tensor"),
                ("if x.data_ptr() >> 9 & 1: copy[(1,)](x, y, 64)\nreturn y", "the number of operators and launches")):
            with self.subTest(body):
                error = self.refusal(copying("y = torch.exp(x)\n" + body + "\nreturn y + 1"), "address_as_number")
                self.assertIn(told, error["message"])
                self.assertEqual(error["where"], "candidate.py:25")

    def test_what_fails_only_at_other_addresses_says_so(self):
        text = copying("""
            y, z = torch.empty_like(x), torch.empty_like(x)
            if y.data_ptr() > z.data_ptr():
                raise ValueError("the wrong way round")
            return x
        """)
        self.assertIn("with its tensors at other addresses: ValueError", self.refusal(text, "plan_failed")["message"])

    def test_honest_questions_are_answered(self):
        text = copying("""
            y = torch.empty(1024, device=x.device)
            assert x.data_ptr() % 512 == 0 and y.data_ptr() % 512 == 0 and y[1:].data_ptr() % 16 == 4
            assert x.data_ptr() != y.data_ptr() and x.data_ptr() == x.view(-1).data_ptr() == x.untyped_storage().data_ptr()
            assert (y[8:].data_ptr() - y.data_ptr()) // 4 == 8 and y[:0].data_ptr() == 0
            apart = x.data_ptr() + x.nbytes <= y.data_ptr() or y.data_ptr() + y.nbytes <= x.data_ptr()
            assert apart and x.storage().data_ptr() == x.data_ptr()
            kept = {}
            for w in (self.linear.weight, self.linear.bias, self.linear.weight.data):
                if w.data_ptr() not in kept:
                    kept[w.data_ptr()] = torch.exp(w)
            assert len(kept) == 2
            copy[(16,)](x if x.data_ptr() % 16 == 0 else x.clone(), y, 1024, B=64)
            for w in kept.values():
                copy[(1,)](w, y, 32)
            return y
        """)
        plan, _, _ = self.plan(text)
        self.assertEqual([launch["grid"][0] for launch in launches(plan)], [16, 1, 1])
        self.assertEqual(plan, self.plan(text)[0])


@needs_torch
class OnTheCpu(Planner):
    def test_kernels_take_none(self):
        for body, constructor in (
                ("copy[(1,)](torch.ones(64), x, 64)", ""),
                ("copy[(1,)](x, torch.empty(64), 64)", ""),
                ("copy[(1,)](torch.tensor([1.0] * 64, device='cpu'), x, 64)", ""),
                ("copy[(1,)](torch.arange(64).float()[None].t() * 2, x, 64)", ""),
                ("copy[(1,)](torch.stack([torch.ones(3), torch.zeros(3)]), x, 64)", ""),
                ("copy[(1,)](torch.zeros_like(self.table), x, 64)", "self.table = torch.ones(64)"),
                ("copy[(1,)](self.tables[0], x, 64)", "self.tables = [torch.ones(64)]")):
            with self.subTest(body):
                error = self.refusal(copying(body + "\nreturn x", constructor), "cpu_tensor")
                self.assertIn("of copy lies on the CPU", error["message"])

    def test_what_was_moved_is_taken(self):
        for body, constructor in (
                ("copy[(1,)](torch.ones(64).cuda(), torch.ones(64).to(x.device), 64)", ""),
                ("copy[(1,)](torch.ones(64).to(x), torch.ones(64, dtype=torch.int64).type_as(x), 64)", ""),
                ("copy[(1,)](torch.ones(64, device=x.device), torch.ones(64, device=0), 64)", ""),
                ("copy[(1,)](x.new_zeros(64), torch.zeros_like(x), 64)", ""),
                ("copy[(1,)](x[0] + torch.ones(48, device='cuda'), x * torch.tensor(2.0), 64)", ""),
                ("with torch.device('cuda'): copy[(1,)](torch.ones(64), torch.ones(64), 64)", ""),
                ("assert torch.get_default_device().type == 'cuda'; copy[(1,)](torch.ones(64), torch.ones(64), 64)",
                 "torch.set_default_device('cuda')"),
                ("copy[(1,)](torch.empty(0), torch.empty(64, pin_memory=True), 0)", ""),
                ("copy[(1,)](self.linear.bias, self.table, 32)", "self.register_buffer('table', torch.ones(64))"),
                ("if self.t.device != x.device: self.t = self.t.to(x.device)\ncopy[(1,)](self.t, x, 32)",
                 "self.t = torch.ones(64)"),
                ("copy[(1,)](self.t, x, 32)", "self.t = torch.ones(64, device=torch.cuda.current_device())")):
            with self.subTest(body):
                self.plan(copying(body + "\nreturn x", constructor))

    def test_a_model_that_moves_its_own_tensors(self):
        self.plan(copying("copy[(1,)](self.t, x, 32); return x", """
            self.t = torch.ones(64)
        """) + "    def _apply(self, f):\n        self.t = f(self.t)\n        return super()._apply(f)\n")

    def test_tensors_without_storage_are_on_the_gpu(self):
        plan, _, _ = self.plan(forward("host = torch.ones(3); return torch.vmap(lambda row: row * host[0])(x)"))
        self.assertEqual(operators(plan), ["ones", "select", "mul"])

    def test_tensors_say_where_they_are(self):
        self.plan(forward("""
            host = torch.ones(3)
            assert host.device.type == "cpu" and host.is_cpu and not host.is_cuda and host.get_device() == -1
            moved = torch.ones(3).cuda()
            assert moved.device.type == "cuda" and not moved.is_cpu and moved.is_cuda and moved.get_device() == 0
            assert self.linear.weight.is_cuda and (x * host[0]).is_cuda and self.linear(x).is_cuda
            return self.linear(x)
        """, "assert self.linear.weight.is_cpu"))
