"""What is asked of the compiler for an extension. Without a compiler."""

import os
import tempfile
import unittest

from support import needs_torch

KERNEL = "__global__ void k() {}\ntorch::Tensor run(torch::Tensor x) { k<<<1, 1>>>(); return x; }"


@needs_torch
class Sources(unittest.TestCase):
    def setUp(self):
        from kernelsmith_torch import extension_sources

        self.made = extension_sources

    def flags(self, *cuda, cflags=()):
        return self.made.flags(cflags, cuda, [])

    def test_declarations_are_joined_with_the_cuda_source(self):
        (unit,) = self.made.inline_units(["torch::Tensor run(torch::Tensor x);"], [KERNEL], {"run": "runs"})
        self.assertEqual(unit["name"], "cuda.cu")
        self.assertLess(unit["text"].index("k<<<1, 1>>>"), unit["text"].index("torch::Tensor run(torch::Tensor x);"))
        self.assertIn('m.def("run", run, "runs");', unit["text"])

    def test_other_cpp_sources_are_units_of_their_own(self):
        for cpp, functions in (("torch::Tensor run(torch::Tensor x);", {"other": ""}), ("", {"run": ""}),
                               ("torch::Tensor run(torch::Tensor x);\nint two() { return 2; }", {"run": ""}),
                               ("torch::Tensor run(torch::Tensor x);\n#define X\n", {"run": ""}),
                               ("// torch::Tensor run(torch::Tensor x);", {"run": ""})):
            with self.subTest(cpp):
                units = self.made.inline_units([cpp], [KERNEL], functions)
                self.assertEqual([unit["name"] for unit in units], ["main.cpp", "cuda.cu"])
                self.assertNotIn("PYBIND11", units[1]["text"])

    def test_lines_are_those_of_pytorchs_files(self):
        cpp, cuda = self.made.inline_units(["a;", "b;"], ["c;", "d;"], None)
        self.assertEqual(cpp["text"].splitlines(), ["#include <torch/extension.h>", "a;", "b;"])
        self.assertEqual(cuda["text"].splitlines()[3:], ["c;", "d;"])

    def test_flags_that_matter(self):
        kept = self.flags("-O2", "--use_fast_math", "-std=c++20", "-DA=1", "-D", "B", "-U__CUDA_NO_HALF_OPERATORS__",
                          "-Xptxas -dlcm=ca", "--maxrregcount=64", "--expt-extended-lambda", "-I/x", cflags=["-DC", "-O1"])
        self.assertEqual((kept["optimize"], kept["fast_math"], kept["std"], kept["include"]), ("-O2", True, "c++20", ["/x"]))
        self.assertLessEqual({"A=1", "B", "C", "__CUDA_NO_HALF2_OPERATORS__"}, set(kept["defines"]))
        self.assertNotIn("__CUDA_NO_HALF_OPERATORS__", kept["defines"])
        self.assertEqual(kept["nvcc"], ["-Xptxas=-dlcm=ca", "--maxrregcount=64", "--expt-extended-lambda"])

    def test_flags_that_are_the_planners(self):
        plain = self.flags()
        self.assertEqual(plain, self.flags("-gencode", "arch=compute_80,code=sm_80", "-arch=sm_75", "-lineinfo", "-G", "-lcublas",
                                           "--threads", "4", "-Xcompiler", "-fopenmp", "-rdc=true", "-L/x", "-v"))
        self.assertEqual((plain["optimize"], plain["fast_math"], plain["nvcc"]), ("-O3", False, []))

    def test_heavy_headers_only_if_named(self):
        def wanted(text):
            header = self.made.job_header("n", [{"name": "cuda.cu", "text": text}])["text"].split()
            self.assertEqual(header[:3], ["#define", "TORCH_EXTENSION_NAME", "n"])
            return {each.removeprefix("KERNELSMITH_WITH_") for each in header if "_WITH_" in each}

        self.assertEqual(wanted(KERNEL), set())
        self.assertEqual(wanted("std::string s; std::vector<at::Half> v; throw std::runtime_error(s);"),
                         {"STRING", "HALF", "STDEXCEPT"})
        self.assertEqual(wanted("cudaDeviceProp p;"), {"DEVICE_PROPERTIES"})
        self.assertEqual(wanted("CUtensorMap map; cuTensorMapEncodeTiled(&map);"), {"DRIVER"})
        self.assertLessEqual({"STRING", "ALGORITHM", "IOSTREAM"}, wanted("using namespace std;"))

    def test_keys(self):
        def key(text="a", name="n", arch=90, *cuda):
            units = self.made.inline_units([text], [], None)
            return self.made.Job(name, arch, units, self.made.flags([], cuda, [])).key

        self.assertEqual(key(), key())
        self.assertEqual(len({key(), key("b"), key("a", "m"), key("a", "n", 100), key("a", "n", 90, "-O1")}), 5)

    def test_files_and_their_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"a.cu": '#include "x/b.cuh"\n', "a.cc": "int a;", "x/b.cuh": '#include "c.h"\n', "c.h": "int c;",
                               "unused.h": ""}.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            units = self.made.file_units([f"{folder}/a.cu", f"{folder}/a.cc"])
        self.assertEqual([unit["name"] for unit in units], ["a.cu", "a.cpp", "x/b.cuh", "c.h"])
        self.assertEqual(units[1]["text"], "int a;")
