"""Plants one wrong edge of each kind in a small tree and expects check_layering to name it."""

import tempfile
import unittest
from pathlib import Path

from check_layering import check, read_allowed
from check_openings import circle, silent

ALLOWED = read_allowed("core:\narchive: core\nislands: core archive\nevaluator: core\nevaluator_*: core evaluator\ncli: core archive islands evaluator evaluator_*\n")


class Layering(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for component in ("src/core", "archive", "islands", "evaluator", "evaluator/cpu", "evaluator/cuda", "src/cli"):
            self.write(f"{component}/CMakeLists.txt", "kernelsmith_component(x PUBLIC kernelsmith::core)\n")
        self.write("include/kernelsmith/core/error.hpp", "#include <string>\n")
        self.write("archive/number_text.hpp", "")
        self.write("islands/island.cpp", "#include <vector>\n#include <kernelsmith/archive/archive.hpp>\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def wrong(self):
        return check(self.root, ALLOWED)

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.wrong(), [])

    def test_an_include_upwards(self):
        self.write("archive/archive.cpp", "\n#include <kernelsmith/islands/island.hpp>\n")
        self.assertEqual(self.wrong(), ["archive/archive.cpp:2: archive must not use islands"])

    def test_an_include_in_a_public_header(self):
        self.write("include/kernelsmith/core/bad.hpp", "# include <kernelsmith/archive/grid.hpp>\n")
        self.assertEqual(self.wrong(), ["include/kernelsmith/core/bad.hpp:1: core must not use archive"])

    def test_a_link_upwards(self):
        self.write("archive/CMakeLists.txt", "kernelsmith_component(archive\n  PRIVATE kernelsmith::islands)\n")
        self.assertEqual(self.wrong(), ["archive/CMakeLists.txt:2: archive must not use islands"])

    def test_a_comment_links_nothing(self):
        self.write("archive/CMakeLists.txt", "# not kernelsmith::islands\n")
        self.assertEqual(self.wrong(), [])

    def test_a_private_header_of_another_component(self):
        self.write("islands/a.cpp", '#include "../archive/number_text.hpp"\n')
        self.write("islands/b.cpp", '#include "number_text.hpp"\n')
        self.assertEqual(
            self.wrong(),
            [
                'islands/a.cpp:1: includes "../archive/number_text.hpp", a private header of archive',
                'islands/b.cpp:1: includes "number_text.hpp", a private header of archive',
            ],
        )

    def test_a_private_header_of_its_own(self):
        self.write("archive/text/line.cpp", '#include "../number_text.hpp"\n#include "number_text.hpp"\n')
        self.assertEqual(self.wrong(), [])

    def test_backends_use_the_evaluator_but_not_one_another(self):
        self.write("evaluator/cpu/cpu.cpp", "#include <kernelsmith/evaluator/judge.hpp>\n")
        self.assertEqual(self.wrong(), [])
        self.write("evaluator/cpu/cpu.cpp", "#include <kernelsmith/evaluator/cuda/stub.hpp>\n")
        self.assertEqual(self.wrong(), ["evaluator/cpu/cpu.cpp:1: evaluator_cpu must not use evaluator_cuda"])
        self.write("evaluator/cpu/cpu.cpp", "")
        self.write("evaluator/judge.cpp", "#include <kernelsmith/evaluator/cpu/cpu_evaluator.hpp>\n")
        self.assertEqual(self.wrong(), ["evaluator/judge.cpp:1: evaluator must not use evaluator_cpu"])

    def test_a_hidden_library_in_a_public_header(self):
        self.write("include/kernelsmith/core/bad.hpp", "#include <nlohmann/json.hpp>\n")
        self.assertEqual(
            self.wrong(), ["include/kernelsmith/core/bad.hpp:1: a public header includes <nlohmann/json.hpp>"]
        )

    def test_a_component_without_a_rule(self):
        self.write("src/extra/CMakeLists.txt", "")
        self.assertEqual(self.wrong(), ["src/extra: extra has no line in allowed.txt"])

    def test_a_component_of_public_headers_alone(self):
        self.write("include/kernelsmith/lost/a.hpp", "")
        self.assertEqual(self.wrong(), ["include/kernelsmith/lost: lost has no line in allowed.txt"])

    def test_a_public_header_that_includes_one_that_is_not_installed(self):
        self.write("internal/kernelsmith/core/own.hpp", "")
        self.write("include/kernelsmith/core/a.hpp", "#include <kernelsmith/core/own.hpp>\n")
        self.assertEqual(
            self.wrong(), ["include/kernelsmith/core/a.hpp:1: a public header includes <kernelsmith/core/own.hpp>, which is not installed"]
        )

    def test_public_headers_of_a_backend(self):
        self.write("include/kernelsmith/evaluator/cpu/cpu_evaluator.hpp", "#include <kernelsmith/evaluator/judge.hpp>\n")
        self.assertEqual(self.wrong(), [])
        self.write("include/kernelsmith/evaluator/cpu/cpu_evaluator.hpp", "#include <kernelsmith/evaluator/cuda/stub.hpp>\n")
        self.assertEqual(
            self.wrong(), ["include/kernelsmith/evaluator/cpu/cpu_evaluator.hpp:1: evaluator_cpu must not use evaluator_cuda"]
        )

    def test_a_backend_outside_of_the_house_is_held_to_a_backends_rules(self):
        self.write("tests/toy_backend/CMakeLists.txt", "target_link_libraries(toy PUBLIC kernelsmith::evaluator)\n")
        self.write("tests/toy_backend/toy.cpp", "#include <kernelsmith/evaluator/judge.hpp>\n")
        self.assertEqual(self.wrong(), [])
        self.write("tests/toy_backend/toy.cpp", "#include <kernelsmith/cli/a.hpp>\n#include <kernelsmith/evaluator/cpu/a.hpp>\n")
        self.assertEqual(
            self.wrong(),
            [
                "tests/toy_backend/toy.cpp:1: evaluator_toy must not use cli",
                "tests/toy_backend/toy.cpp:2: evaluator_toy must not use evaluator_cpu",
            ],
        )

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
