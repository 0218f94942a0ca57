"""What others might put into a repository to do harm: texts of files, trees of files, and what a sandbox might be made to say."""

import os
from pathlib import Path

from synthesis_repositories import MIT

HEAD = "import torch\nimport torch.nn as nn\nfrom torch.nn import functional as F\n"
HONEST = """class M(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.l = nn.Linear(dim, dim)
    def forward(self, x):
        return self.l(x)
"""


def with_forward(text):
    return HEAD + HONEST.replace("self.l(x)", text)


def many(text, sign, count):
    return sign.join([text] * count)


# Files: their text, and the codes with which they may be refused; "" if they may pass.
PARSING = {
    "parentheses": (HEAD + HONEST + "x = " + "(" * 100_000 + ")" * 100_000 + "\n", {"broken_file"}),
    "minus": (HEAD + HONEST + "x = " + "-" * 100_000 + "1\n", {"broken_file"}),
    "lambdas": (HEAD + HONEST + "x = " + "lambda: " * 50_000 + "1\n", {"broken_file"}),
    "sum": (with_forward(many("x", " + ", 1500)), {"broken_file"}),
    "base": (HEAD + "class M(nn.Module, " + many("a", " + ", 1500) + "):\n    pass\n", {"broken_file"}),
    "annotation": (HEAD + HONEST.replace("dim)", "dim: " + many("a", " + ", 1500) + ")", 1), {"broken_file"}),
    "call": (HEAD + HONEST + "M(dim=" + many("1", " + ", 1500) + ")\n", {"broken_file"}),
    "branches": (HEAD + HONEST + "if 1:\n    pass\n" + "elif 2:\n    pass\n" * 1500, {"broken_file"}),
    "decorator": (HEAD + "@a" + "()" * 2000 + "\n" + HONEST, {"broken_file"}),
    "number": (with_forward("x * 0x" + "f" * 100_000), {"broken_file"}),
    "number_in_base": (HEAD + "class M(nn.Module, 0x" + "f" * 100_000 + "):\n    pass\n", {"broken_file"}),
    "number_in_call": (HEAD + HONEST + "M(dim=0x" + "f" * 100_000 + ")\n", {""}),
    "null": (HEAD + HONEST + "\0\n", {"broken_file"}),
    "nul_in_text": (with_forward("self.l(x) + len('\\x1b[2J\\0\\ud800')"), {""}),
    "utf16": ((HEAD + HONEST).encode("utf-16"), {"broken_file", "no_modules"}),
    "bytes": (bytes(range(256)) + (HEAD + HONEST).encode(), {"broken_file"}),
    "lines": (HEAD + HONEST + "\n" * 60_000, {""}),
    "blanks": (HEAD + HONEST + "# " + " " * 60_000 + "x\n", {""}),
    "long_line": (HEAD + HONEST + "x = '" + "a" * 60_000 + "'\n", {""}),
    "licence_line": ("# SPDX-License-Identifier:" + " " * 4000 + "!\n" + HEAD + HONEST, {""}),
    "bases": (HEAD + "".join(f"class A{at}({', '.join(f'A{to}' for to in range(25) if to != at)}):\n    pass\n"
                             for at in range(25)) + HONEST, {""}),
    "own_base": (HEAD + "class M(M, nn.Module):\n    def forward(self, x):\n        return x\n", {"", "unresolved_name"}),
    "our_names": (with_forward("get_inputs(x)") + "def get_inputs(x):\n    return x * 2\nclass _Config:\n    pass\n", {""}),
}
REFUSED = {"forbidden_name", "patches_library", "import_refused", "global_state"}
# Ways around names. All are refused before anything is executed.
HIDING = {
    "attribute_of_library": with_forward("torch.os.popen('id')"),
    "import_of_library": "from torch import os\n" + with_forward("os.popen('id')"),
    "builtins_of_library": "import dataclasses\n" + with_forward("dataclasses.builtins.open('/etc/passwd')"),
    "underscore": "import collections\n" + with_forward("collections._sys.modules"),
    "dict": with_forward("torch.__dict__['o' + 's']"),
    "vars": with_forward("vars(torch)['o' + 's']"),
    "attrgetter": "from operator import attrgetter\n" + with_forward("attrgetter('o' + 's.popen')(torch)"),
    "code": "import types\n" + with_forward("types.FunctionType(x, {})"),
    "format": with_forward("'{0.__init__.__globals__}'.format(self)"),
    "getattr": with_forward("getattr(self, '__reduce_ex__')(2)"),
    "decorator": HEAD + "def hidden(c):\n    open('/tmp/x', 'w')\n    return c\n@hidden\n" + HONEST,
    "metaclass": HEAD + "class Meta(type):\n    def __call__(c, *a):\n        exec('1')\n"
                        + HONEST.replace("nn.Module", "nn.Module, metaclass=Meta"),
    "init_subclass": HEAD + "class Base(nn.Module):\n    def __init_subclass__(c):\n        eval('1')\n"
                            + HONEST.replace("nn.Module", "Base"),
    "class_getitem": HEAD + "class Box:\n    def __class_getitem__(c, i):\n        return open(i)\n"
                     + HONEST.replace("self.l =", "self.f = Box['/etc/passwd']; self.l ="),
    "default": HEAD + HONEST.replace("dim)", "dim, f=open('/etc/passwd'))", 1),
    "class_body": HEAD + HONEST.replace("    def __init__", "    exec('import os')\n    def __init__"),
    "descriptor": HEAD + "class D:\n    def __get__(self, o, t):\n        return __import__('os')\n"
                  + HONEST.replace("    def __init__", "    d = D()\n    def __init__"),
    "del": HEAD + HONEST + "    def __del__(self):\n        open('/tmp/x', 'w')\n",
    "reduce": HEAD + HONEST + "    def __reduce__(self):\n        return eval, ('1',)\n",
    "globals": with_forward("globals()['__builtins__']"),
    "subclasses": with_forward("type(x).__mro__[1].__subclasses__()"),
    "type": with_forward("type('T', (), {'__del__': lambda s: open('x')})"),
    "patch": HEAD + HONEST.replace("self.l =", "torch.nn.functional.relu = None; self.l ="),
    "patch_by_setattr": HEAD + HONEST.replace("self.l =", "setattr(torch.Tensor, 'relu', None); self.l ="),
}
# What may be forged: each alone makes a sound answer one of somebody else's.
FORGED = (
    {"arguments": ["8)]\n\nimport os\n\ndef f():\n    return [(1"]}, {"arguments": [5]}, {"inputs": ["1; 2"]}, {"inputs": [None]},
    {"reference": "import os\nclass Model: pass"}, {"reference": "class Model: pass\nopen('x')"}, {"reference": "class Model: pass\n("},
    {"reference": "class Other: pass"}, {"reference": "class Model: pass\nx = " + "-" * 50_000 + "1"}, {"origin": "\x1b[2J\ud800"},
    {"roofline_us": float("nan")}, {"roofline_us": float("inf")}, {"roofline_us": -1.0}, {"flops": 10 ** 4000}, {"bytes": -1},
    {"outputs": [["float32", [-1, -2]]]}, {"operators": [["relu\x1b[2J", []]]}, {"operators": [["relu\n", []]]},
    {"operators": [["relu", [True]], ["relu", ["0"]]]}, {"refused": "no_inputs\n"}, {"refused": ["no_inputs"]})


def trees(folder: Path) -> None:
    """Repositories whose files lead to each other in more ways than can be tried, or out of the folder."""
    def put(name, files):
        for path, text in {"LICENSE": MIT, **files}.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text)
        return folder / name

    def others(line, count):
        return {f"s{at}.py": "".join(line.format(to) for to in range(count) if to != at) for at in range(count)}

    put("stars", {**others("from s{} import *\n", 20), "m.py": "from s0 import *\n" + with_forward("lost(x)")})
    put("branches", {**others("if a:\n    from s{} import f\n", 12), "m.py": "from s0 import f\n" + with_forward("f(x)")})
    put("bases", {**others("if a:\n    from s{} import B\n", 12), "m.py": HEAD + "from s0 import B\nclass M(B):\n    pass\n"})
    put("licence", {"m.py": HEAD + HONEST, "LICENSE": "SPDX-License-Identifier:" + " a" * 50_000 + "!"})
    put("licence2", {"m.py": HEAD + HONEST, "LICENSE": "Redistribution and use in source and binary forms " * 4000})
    put("reference", {"m.py": HEAD + HONEST, ".commit": "ref: /dev/zero"})
    os.mkfifo(put("pipe", {"m.py": HEAD + HONEST}) / ".commit")
    os.symlink("/dev/zero", put("link", {"m.py": HEAD + HONEST}) / ".commit")
    odd = put("names", {"m.py": HEAD + HONEST, "a\nb.py": HEAD + HONEST, "a\x1b[2J.py": HEAD + HONEST})
    with open(os.fsencode(odd) + b"/a\xff.py", "w") as file:
        file.write(HEAD + HONEST)
    os.mkfifo(odd / "pipe.py")
    os.symlink("/", odd / "root")
