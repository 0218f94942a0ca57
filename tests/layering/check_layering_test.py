"""Plants one wrong edge of each kind in a small tree and expects check_layering to name it."""

import tempfile
import unittest
from pathlib import Path

from check_layering import check, read_allowed
from check_openings import circle, silent

ALLOWED = read_allowed("core:\narchive: core\nislands: core archive\nevaluator: core\nevaluator_*: core evaluator\ncli: core archive islands evaluator evaluator_*\n")


BACKEND, TOY = "include/kernelsmith/evaluator/cpu/cpu_evaluator.hpp", "tests/toy_backend/toy.cpp"

# What a change is, the files that it writes, and what is wrong then.
CHANGES = [
    ("nothing", {}, []),
    ("an include upwards", {"archive/archive.cpp": "\n#include <kernelsmith/islands/island.hpp>\n"},
     ["archive/archive.cpp:2: archive must not use islands"]),
    ("an include in a public header", {"include/kernelsmith/core/bad.hpp": "# include <kernelsmith/archive/grid.hpp>\n"},
     ["include/kernelsmith/core/bad.hpp:1: core must not use archive"]),
    ("a link upwards", {"archive/CMakeLists.txt": "kernelsmith_component(archive\n  PRIVATE kernelsmith::islands)\n"},
     ["archive/CMakeLists.txt:2: archive must not use islands"]),
    ("a comment, which links nothing", {"archive/CMakeLists.txt": "# not kernelsmith::islands\n"}, []),
    ("a private header of another component",
     {"islands/a.cpp": '#include "../archive/number_text.hpp"\n', "islands/b.cpp": '#include "number_text.hpp"\n'},
     ['islands/a.cpp:1: includes "../archive/number_text.hpp", a private header of archive',
      'islands/b.cpp:1: includes "number_text.hpp", a private header of archive']),
    ("a private header of its own", {"archive/text/line.cpp": '#include "../number_text.hpp"\n#include "number_text.hpp"\n'}, []),
    ("a backend that uses the evaluator", {"evaluator/cpu/cpu.cpp": "#include <kernelsmith/evaluator/judge.hpp>\n"}, []),
    ("a backend that uses another one", {"evaluator/cpu/cpu.cpp": "#include <kernelsmith/evaluator/cuda/stub.hpp>\n"},
     ["evaluator/cpu/cpu.cpp:1: evaluator_cpu must not use evaluator_cuda"]),
    ("an evaluator that uses a backend", {"evaluator/judge.cpp": "#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>\n"},
     ["evaluator/judge.cpp:1: evaluator must not use evaluator_cpu"]),
    ("a hidden library in a public header", {"include/kernelsmith/core/bad.hpp": "#include <nlohmann/json.hpp>\n"},
     ["include/kernelsmith/core/bad.hpp:1: a public header includes <nlohmann/json.hpp>"]),
    ("a component without a rule", {"src/extra/CMakeLists.txt": ""}, ["src/extra: extra has no line in allowed.txt"]),
    ("a component of public headers alone", {"include/kernelsmith/lost/a.hpp": ""},
     ["include/kernelsmith/lost: lost has no line in allowed.txt"]),
    ("a public header that includes one that is not installed",
     {"internal/kernelsmith/core/own.hpp": "", "include/kernelsmith/core/a.hpp": "#include <kernelsmith/core/own.hpp>\n"},
     ["include/kernelsmith/core/a.hpp:1: a public header includes <kernelsmith/core/own.hpp>, which is not installed"]),
    ("a backend's public header", {BACKEND: "#include <kernelsmith/evaluator/judge.hpp>\n"}, []),
    ("a backend's public header that uses another backend", {BACKEND: "#include <kernelsmith/evaluator/cuda/stub.hpp>\n"},
     [f"{BACKEND}:1: evaluator_cpu must not use evaluator_cuda"]),
    ("a backend outside of the house", {TOY: "#include <kernelsmith/evaluator/judge.hpp>\n"}, []),
    ("one that keeps no backend's rules", {TOY: "#include <kernelsmith/cli/a.hpp>\n#include <kernelsmith/evaluator/cpu/a.hpp>\n"},
     [f"{TOY}:1: evaluator_toy must not use cli", f"{TOY}:2: evaluator_toy must not use evaluator_cpu"]),
]


class Layering(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for component in ("src/core", "archive", "islands", "evaluator", "evaluator/cpu", "evaluator/cuda", "src/cli"):
            self.write(f"{component}/CMakeLists.txt", "kernelsmith_component(x PUBLIC kernelsmith::core)\n")
        self.write("tests/toy_backend/CMakeLists.txt", "target_link_libraries(toy PUBLIC kernelsmith::evaluator)\n")
        self.write("include/kernelsmith/core/error.hpp", "#include <string>\n")
        self.write("archive/number_text.hpp", "")
        self.write("islands/island.cpp", "#include <vector>\n#include <kernelsmith/archive/archive.hpp>\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def test_each_change_is_judged_by_the_table(self):
        for what, files, wrong in CHANGES:
            with self.subTest(what):
                self.setUp()
                for path, text in files.items():
                    self.write(path, text)
                self.assertEqual(check(self.root, ALLOWED), wrong)

    def test_a_file_is_opened_by_itself_or_by_its_own_header(self):
        self.write("archive/number_text.hpp", "// Numbers as texts.\n")
        self.write("archive/number_text.cpp", '#include "number_text.hpp"\n')
        self.write("islands/number_text.cpp", "#include <string>\n")  # the header of that name is another's
        self.write("python/a.py", "import os\n")
        self.write("python/b.py", '"""What it is."""\n')
        self.assertEqual([one for one in silent(self.root) if "number" in one or ".py" in one], ["islands/number_text.cpp", "python/a.py"])

    def test_modules_that_import_each_other(self):
        self.write("python/kernelsmith/__init__.py", "from .a import f\n")
        self.write("python/kernelsmith/a.py", "def f():\n    from .b import g\n")
        self.write("python/kernelsmith/b.py", "from . import _core\n")
        self.assertEqual(circle(self.root), [])
        self.write("python/kernelsmith/b.py", "from .a import f\n")
        self.assertEqual(sorted(set(circle(self.root))), ["kernelsmith.a", "kernelsmith.b"])

    def test_the_table_itself_only_points_upwards(self):
        with self.assertRaises(ValueError):
            read_allowed("core: archive\narchive: core\n")


if __name__ == "__main__":
    unittest.main()
