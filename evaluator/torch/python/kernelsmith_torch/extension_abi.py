"""The C interface of libkernelsmith_extension.so (evaluator/cuda/extension/python_side.hpp), for ctypes."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

import torch

from .device import Device

LIBRARY = "KERNELSMITH_EXTENSION_LIBRARY"
"""The environment variable that holds the library's path."""

# ValueKind
MISSING = -1
NONE, BOOL, INT, DOUBLE, TENSOR, STRING, INTS, LIST, TUPLE, DTYPE, DEVICE, FORMAT, OPTIONS = range(13)
ATTRIBUTE = "="
"""The signature of a name that stands for a value."""
# OperationKind
LAUNCH, MEMSET, COPY, UPLOAD, SYMBOL_UPLOAD, SYMBOL_COPY = range(6)

# c10::ScalarType
DTYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32,
          7: torch.float64, 9: torch.complex64, 10: torch.complex128, 11: torch.bool, 15: torch.bfloat16,
          23: torch.float8_e5m2, 24: torch.float8_e4m3fn}
NUMBER_OF_DTYPE = {dtype: number for number, dtype in DTYPES.items()}
FORMATS = [torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d]


class Value(ctypes.Structure):
    """An argument or a result."""


class _Content(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("real", ctypes.c_double), ("tensor", ctypes.c_void_p),
                ("text", ctypes.c_char_p), ("integers", ctypes.POINTER(ctypes.c_int64)),
                ("values", ctypes.POINTER(Value))]


Value._anonymous_ = ("content",)
Value._fields_ = [("kind", ctypes.c_int), ("count", ctypes.c_int), ("content", _Content)]


class Facts(ctypes.Structure):
    """A tensor in C++."""

    _fields_ = [("references", ctypes.c_int64), ("identity", ctypes.c_int64), ("dimensions", ctypes.c_int64),
                ("elements", ctypes.c_int64), ("offset", ctypes.c_int64), ("sizes", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("dtype", ctypes.c_int), ("element_bytes", ctypes.c_int),
                ("contiguous", ctypes.c_int), ("device", ctypes.c_int), ("data", ctypes.c_void_p)]


class Operation(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("module", ctypes.c_uint32), ("name", ctypes.c_char_p), ("to", ctypes.c_uint64),
                ("source", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("data", ctypes.c_void_p),
                ("parameters", ctypes.POINTER(ctypes.c_uint32)), ("parameter_count", ctypes.c_uint64),
                ("value", ctypes.c_uint32), ("width", ctypes.c_uint32), ("grid", ctypes.c_uint32 * 3),
                ("block", ctypes.c_uint32 * 3), ("cluster", ctypes.c_uint32 * 3), ("shared", ctypes.c_uint32),
                ("max_shared", ctypes.c_uint32), ("cooperative", ctypes.c_int)]


OPERATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(Value), ctypes.c_int, ctypes.POINTER(Value),
                           ctypes.c_int)
DROP = ctypes.CFUNCTYPE(None, ctypes.c_int64)
DEFINE = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Value), ctypes.c_int)
ON_DEVICE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)
ACT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Operation))


class PythonSide(ctypes.Structure):
    _fields_ = [("operate", OPERATE), ("drop", DROP), ("define", DEFINE), ("on_device", ON_DEVICE), ("allocate", ALLOCATE),
                ("release", ON_DEVICE), ("act", ACT), ("is_fake", ON_DEVICE)]


class _DeviceFigures(ctypes.Structure):
    _fields_ = [("arch", ctypes.c_int), ("multiprocessors", ctypes.c_int), ("shared", ctypes.c_int), ("l2", ctypes.c_int),
                ("memory", ctypes.c_uint64), ("name", ctypes.c_char_p)]


class Library:
    """The loaded library. Extensions are linked with it and find it in the process."""

    def __init__(self, side: PythonSide, device: Device) -> None:
        self._loaded = ctypes.CDLL(os.environ[LIBRARY], mode=ctypes.RTLD_GLOBAL)
        pointer, text, value = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Value)
        self.tensor = self._function("kernelsmith_extension_tensor", pointer, ctypes.POINTER(Facts),
                                     ctypes.POINTER(ctypes.c_int64))
        self.release = self._function("kernelsmith_tensor_release", None, pointer)
        self.free = self._function("kernelsmith_extension_free", None, pointer)
        self.set_error = self._function("kernelsmith_extension_error", None, text)
        self.error_text = self._function("kernelsmith_extension_error_text", text)
        self.begin_library = self._function("kernelsmith_extension_begin_library", None)
        self.add_module = self._function("kernelsmith_extension_add_module", ctypes.c_bool, text, ctypes.c_size_t,
                                         ctypes.c_uint32)
        self.initialise = self._function("kernelsmith_extension_initialise", ctypes.c_int, pointer)
        self.call = self._function("kernelsmith_extension_call", ctypes.c_int, ctypes.c_int, value, value)
        self.load_refusal = self._function("kernelsmith_extension_load_refusal", text)
        self.refusal = self._function("kernelsmith_extension_refusal", text)
        self.readable = self._function("kernelsmith_extension_readable", text, text)
        sizes = list((ctypes.c_size_t * 4).in_dll(self._loaded, "kernelsmith_extension_sizes"))
        if sizes != [ctypes.sizeof(each) for each in (Value, Facts, Operation, PythonSide)]:
            raise RuntimeError(f"{os.environ[LIBRARY]} is of another version of kernelsmith")
        start = self._function("kernelsmith_extension_start", None, ctypes.POINTER(PythonSide),
                               ctypes.POINTER(_DeviceFigures))
        start(side, _DeviceFigures(device.arch, device.multiprocessors, device.shared, device.l2, device.memory,
                                   device.name.encode()))

    def words(self, text: bytes | None = None) -> str:
        return (self.error_text() if text is None else text).decode(errors="replace")

    def _function(self, name: str, result: type | None, *arguments: type) -> Callable:
        function = getattr(self._loaded, name)
        function.restype, function.argtypes = result, list(arguments)
        return function
