"""Compiles and runs what README.md and the walk-throughs in docs/ show.

Every ```cpp block is a whole program: it is built against an install of the build tree and must exit with 0. Every
```python block is a program, too, run with the module of the build tree. Every
```sh block is run line by line in a scratch folder that looks like a clone; a line may end with `# exit N`. Other blocks,
such as ```text and ```python fragment, are not run.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(cpp|sh|python)\n(.*?)^```", re.S | re.M)
EXPECTED_EXIT = re.compile(r"#\s*exit (\d+)\s*$")
# How often a command that found the machine too noisy to measure on is run again.
NOISY_RETRIES = 4
# The two commands of the quick start install and build: CI itself is that test.
NOT_AGAIN = ("git clone", "cd kernelsmith", "scripts/")

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(readme LANGUAGES CXX)
find_package(kernelsmith REQUIRED)
add_executable(example main.cpp)
target_link_libraries(example PRIVATE kernelsmith::kernelsmith)
"""


def call(command, expected=0, **options):
    for _ in range(NOISY_RETRIES):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        if done.returncode != 3 or "(unstable)" not in done.stdout:
            break
    if done.returncode != expected:
        sys.exit(f"{command}\nended with {done.returncode}, not {expected}:\n{done.stdout}")
    return done.stdout


def run_cpp(code, scratch, prefix, cxx):
    (scratch / "CMakeLists.txt").write_text(PROJECT)
    (scratch / "main.cpp").write_text(code)
    call(["cmake", "-S", scratch, "-B", scratch / "build", "-G", "Ninja",
          f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={cxx}"])
    call(["cmake", "--build", scratch / "build"])
    call([scratch / "build" / "example"], cwd=scratch)


def run_sh(lines, folder, environment):
    for line in lines.replace("\\\n", " ").splitlines():
        command = line.strip()
        if not command or command.startswith(("#",) + NOT_AGAIN):
            continue
        expected = EXPECTED_EXIT.search(command)
        print("$", command, flush=True)
        call(["bash", "-c", command], int(expected.group(1)) if expected else 0, cwd=folder, env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    for name in ("source", "build"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--python", required=True, help="with the module on its path")
    args = parser.parse_args()

    blocks = [block for page in args.pages for block in FENCE.findall(page.read_text())]
    if {language for language, _ in blocks} != {"cpp", "sh", "python"}:
        sys.exit("the pages lack a C++ program, a command or a Python program: what should be tested is not there")

    with tempfile.TemporaryDirectory(prefix="kernelsmith-readme-") as name:
        scratch = pathlib.Path(name)
        prefix = scratch / "prefix"
        call(["cmake", "--install", args.build, "--prefix", prefix])
        clone = scratch / "clone"
        clone.mkdir()
        shutil.copytree(args.source / "examples", clone / "examples")
        (clone / "build").mkdir()
        (clone / "build" / "release").symlink_to(args.build)
        environment = {**os.environ, "PATH": f"{args.build / 'bin'}:{os.environ['PATH']}"}
        for index, (language, code) in enumerate(blocks):
            if language == "cpp":
                folder = scratch / f"cpp{index}"
                folder.mkdir()
                run_cpp(code, folder, prefix, args.cxx)
            elif language == "python":
                call([args.python, "-c", code], cwd=clone,
                     env={**environment, "PYTHONPATH": str(args.build / "python")})
            else:
                run_sh(code, clone, environment)
    print(f"{len(blocks)} blocks passed")


if __name__ == "__main__":
    main()
