"""Tensor maps of a plan: what is read of an adversary's words, and what the driver gets."""

import ctypes
import unittest

import torch

from kernelsmith_process.framing import Failure
from kernelsmith_torch import tensor_map
from kernelsmith_torch.plan_check import check_plan
from kernelsmith_torch.plan_values import Ref, TensorMap
from worker_bench import X, linear_plan

MAP = {"base": X, "type": 7, "shape": [96, 16], "strides": [384], "box": [32, 16], "swizzle": 3, "nan": False}


def launch(value):
    plan = linear_plan()
    plan.json["kernels"] = [{"name": "k", "offset": 0, "size": 4, "shared": 0, "warps": 4}]
    plan.json["alternatives"][0]["ops"].append({"launch": 0, "grid": [1, 1, 1], "args": [["tensormap", value]]})
    return check_plan(plan.json, [b"cubi"], (9, 0), torch.device("cpu")).alternatives[0].ops


class TensorMaps(unittest.TestCase):
    def test_one_is_read_and_keeps_its_tensor(self):
        temporary = next(iter(linear_plan().json["alternatives"][0]["ops"]))["out"]
        ops = launch({**MAP, "base": temporary})
        expected = TensorMap(Ref(temporary["t"]), 7, [96, 16], [384], [32, 16], 3, False)
        self.assertEqual(ops[-1].args, [("tensormap", expected)])
        self.assertEqual([temporary["t"] in op.frees for op in ops], [False, False, False, True])

    def test_limits(self):
        for change in ({"base": 5}, {"base": {"t": 99}}, {"type": 16}, {"type": -1}, {"shape": [96]}, {"shape": [0, 16]},
                       {"shape": [2**32 + 1, 1]}, {"strides": []}, {"strides": [2**41]}, {"strides": [-16]}, {"box": [32]},
                       {"box": [512, 16]}, {"swizzle": 4}, {"swizzle": True}, {"nan": 1}, {"more": 1},
                       {"shape": [1] * 6, "strides": [16] * 5, "box": [1] * 6}, {"shape": [], "strides": [], "box": []}):
            with self.assertRaises(Failure, msg=change) as caught:
                launch({**MAP, **change})
            self.assertEqual(caught.exception.code, "bad_plan")
        with self.assertRaises(Failure):
            launch(X)

    def test_what_the_driver_is_told(self):
        told = []

        def driver(*args):
            told.extend(list(a) if isinstance(a, ctypes.Array) else a.value for a in args)
            return 0

        found = tensor_map.encoded(launch(MAP)[-1].args[0][1], 0x7000, driver)
        self.assertEqual(told, [found.getPtr(), 7, 2, 0x7000, [96, 16], [384, 0], [32, 16], [1, 1], 0, 3, 2, 0])
        self.assertEqual(found.getPtr() % 64, 0)
        with self.assertRaisesRegex(RuntimeError, "CUDA error 1: a tensor descriptor of shape"):
            tensor_map.encoded(launch({**MAP, "nan": True})[-1].args[0][1], 0x7000, lambda *args: args[-1].value)
