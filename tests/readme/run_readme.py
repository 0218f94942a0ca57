"""Runs what README.md, the pages of docs/ and the examples' READMEs show, as a reader meets it: in the order of docs/README.md,
in one folder that looks like a clone. Each page begins there; its `cd` and `export` lines hold for the rest of it.

- A ```sh block is run line by line; a line may end with `# exit N`. Lines that cannot be run here are parsed: see MARKS
  and PLACEHOLDER. So are `kernelsmith ...` in a sentence, and what stands behind `$ ` in a ```text block.
- A ```cpp block is a whole program. It is built by the ```cmake block before it, against what the page installed.
- A ```python block is a whole program. What stands in ```cpp fragment or ```python fragment is not run.

A line that is parsed must have a command that is there and options that its --help names; files of the tree in it must exist, and
what pip installs must be the clone or belong to others. No line may make what an earlier one made.
"""

import argparse
import functools
import itertools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib

# Words behind ```sh, and why the lines of such a block are parsed only.
MARKS = {
    "gpu": "needs a GPU, or KernelBench and a GPU",
    "server": "starts a server that goes on until Ctrl-C, or asks one",
    "yours": "works on files that the reader has and the tree has not",
    "build": "installs or builds for minutes, as other stages of scripts/test.sh do",
    "long": "searches for a minute: --long runs it (label full)",
    "model": "asks a model. It is run: a scripted one stands in, and for `kernelsmith run` it is a --dry-run",
}
# A word in capitals, such as RUN or NAME, stands for something of the reader's.
PLACEHOLDER = re.compile(r"(?<![\w$-])[A-Z]+(?![\w=])")
# Where the pages' servers of models listen.
MODEL_URL = "http://localhost:8000/v1"

IN_A_SENTENCE = r"`((?:python\s+-m\s+)?kernelsmith\s+[a-z][^`]*|(?:python\s+)?(?:benchmarks|scripts)/\w+\.\w+\s[^`]*)`"
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$|" + IN_A_SENTENCE, re.S | re.M)
PAGE = re.compile(r"\]\(([\w./-]+\.md)\)")
COMMAND = re.compile(r"^((python -m )?kernelsmith [a-z]|(pip|cmake|scripts/\S+) )", re.M)
EXPECTED_EXIT = re.compile(r"#\s*exit (\d+)\s*$")
# How often a command that found the machine too noisy to measure on is run again.
NOISY_RETRIES = 4


def call(command, expected=0, **options):
    """What it printed. Raises AssertionError if it ends with another status than `expected`."""
    for _ in range(NOISY_RETRIES):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              **options)
        if done.returncode != 3 or "(unstable)" not in done.stdout:
            break
    assert done.returncode == expected, f"ended with {done.returncode}, not {expected}:\n{done.stdout}"
    return done.stdout


def pages(source):
    """In the order of the index; every page of docs/ is in it. The examples' own follow their index."""
    named = [(source / "docs" / name).resolve() for name in PAGE.findall((source / "docs/README.md").read_text())]
    missing = {page.name for page in (source / "docs").glob("*.md")} - {page.name for page in named} - {"README.md"}
    assert not missing, f"docs/README.md lacks {missing}"
    ours = [page for page in dict.fromkeys(named) if page.parent in (source / "docs", source / "examples")]
    return [source / "README.md", *ours, *sorted((source / "examples").glob("*/README.md"))]


def lines_of(code):
    lines = (line.strip() for line in code.replace("\\\n", " ").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


class Reader:
    def __init__(self, args, clone, environment):
        self.args, self.clone, self.environment = args, clone, environment
        self.made = {}  # what a line makes: that line
        self.faults, self.ran, self.parsed = [], 0, 0
        self.extras = tomllib.loads((args.source / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        self.benchmarks = "\n".join(path.read_text() for path in (args.source / "benchmarks").glob("**/CMakeLists.txt"))
        self.tree = {path.name for path in args.source.iterdir() if path.is_dir()} - {"build"}

    def read(self, page):
        self.before, self.cmake = "", ""  # `cd` and `export` lines so far; the last ```cmake block
        for match in BLOCK.finditer(page.read_text()):
            language, code, inline = match.groups()
            if inline:
                self.attempt(page, self.parse, " ".join(inline.split()))
                continue
            language, *marks = language.split() or [""]
            if language == "sh":
                assert set(marks) <= set(MARKS), f"{page}: a mark of {marks} is not in MARKS"
                for line in lines_of(code):
                    self.attempt(page, self.command, line, marks)
            elif language == "cmake":
                self.cmake = code
            elif language in ("cpp", "python") and not marks:
                self.attempt(page, self.build if language == "cpp" else self.program, code)
            else:
                before, *shown = re.split(r"^\$ ", code, flags=re.M)
                for example in shown:
                    self.attempt(page, self.example, *example.split("\n", 1))
                # ```text agent: what an agent has in its sandbox is another program of this name.
                if marks != ["agent"] and COMMAND.search(before):
                    self.attempt(page, self.stray, before)

    def attempt(self, page, what, text, *more):
        try:
            what(text, *more)
        except AssertionError as wrong:
            self.faults.append(f"{page}: {text}\n{wrong}")

    def command(self, line, marks):
        if line.startswith(("cd ", "export ")):
            self.before += line + "\n"
            return
        here = ["model", "long"] if self.args.long else ["model"]
        if line.startswith("pip ") or not set(marks) <= set(here) or marks != ["model"] and PLACEHOLDER.search(line.split("#")[0]):
            return self.parse(line)
        if marks == ["model"]:
            line = line.replace(MODEL_URL, self.environment["OPENAI_BASE_URL"]).replace("kernelsmith run", "kernelsmith run --dry-run")
        return self.run(line)

    def run(self, line):
        self.makes(line)
        expected = EXPECTED_EXIT.search(line)
        print("$", line, flush=True)
        self.ran += 1
        return call(["bash", "-c", self.before + line], int(expected.group(1)) if expected else 0, cwd=self.clone, env=self.environment)

    def example(self, line, output):
        """A command with what it prints, which is a search of a minute. Each line of it is printed again, with other numbers."""
        if not self.args.long:
            return self.parse(line)
        numbers = re.compile(r"\d[\d.:]*")
        printed = numbers.sub("0", self.run(line)).splitlines()
        for old in output.splitlines():
            assert numbers.sub("0", old) in printed, f"prints no such line: {old}\nbut\n" + "\n".join(printed)

    def stray(self, _):
        raise AssertionError("holds commands, but its block is not ```sh")

    def program(self, code):
        self.ran += 1
        call([self.args.python, "-c", code], cwd=self.clone, env=self.environment)

    def build(self, code):
        folder = self.clone / "program"
        folder.mkdir(exist_ok=True)
        (folder / "CMakeLists.txt").write_text(self.cmake)
        (folder / "main.cpp").write_text(code)
        call(["cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.environment['HOME']}/.local",
              f"-DCMAKE_CXX_COMPILER={self.args.cxx}"], cwd=folder)
        call(["cmake", "--build", "build"], cwd=folder)
        name = re.search(r"add_executable\((\w+)", self.cmake).group(1)
        call([folder / "build" / name], cwd=self.clone)
        self.ran += 1

    def parse(self, line):
        self.makes(line)
        self.parsed += 1
        for words in self.parts(line):
            for word in words:
                if word.split("/")[0] in self.tree and not PLACEHOLDER.search(word):
                    assert (self.args.source / word).exists(), f"{word} is not in the tree"
            script = self.args.source / next((word for word in words[:2] if word.startswith(("scripts/", "benchmarks/"))), ".")
            if words[:2] == ["pip", "install"]:
                self.installable(words[2:])
            elif words[:2] == ["cmake", "--build"] and "--target" in words:
                assert re.search(rf"kernelsmith_benchmark\({words[-1]}\s", self.benchmarks), f"benchmarks/ builds no {words[-1]}"
            elif script.is_file():
                self.options(words, script.read_text())
            elif words[0] == "kernelsmith" or words[:3] == ["python", "-m", "kernelsmith"]:
                # Its words are parsed with --help if they are whole, and else the command's name is.
                whole = not PLACEHOLDER.search(line) and words[-1][0] != "-"
                named = words if whole else itertools.takewhile(re.compile("-m|[a-z]+$").match, words)
                self.options([word for word in words if word != "-m"], self.help(*named))

    @staticmethod
    def options(words, known):
        for name in (word.split("=")[0] for word in words):
            assert not re.fullmatch(r"--?[a-z][\w-]*", name) or re.search(rf"(?<![\w-]){name}(?![\w-])", known), (
                f"there is no {name} in\n{known}")

    @staticmethod
    def parts(line):
        """The words of each command in the line, without what marks an option as optional."""
        plain = re.sub(r"(?<=\s)\[|\](?=\s|$)|\.\.\.", " ", line)
        parts = (shlex.split(part, comments=True) for part in re.split(r"\s(?:&&|\|)\s|\s&(?:\s|$)", plain))
        return [words for part in parts if (words := [word for word in part if not re.match(r"[A-Z_]+=", word)])]

    def installable(self, wanted):
        for word in wanted:
            extra = re.fullmatch(r"\.(?:\[(\w+)\])?", word)
            assert extra or not word.startswith("kernelsmith"), f"{word} is on no package index: a clone is '.'"
            assert not extra or not extra[1] or extra[1] in self.extras, f"pyproject.toml has no extra {extra[1]}"

    @functools.lru_cache(maxsize=None)
    def help(self, *words):
        return call([*words, "--help"], cwd=self.clone, env=self.environment)

    def makes(self, line):
        """Refuses a line that makes a folder which an earlier one made."""
        for words in self.parts(line):
            verb = words[0] if words[0] == "cp" else words[1] if words[0] == "kernelsmith" else ""
            made = {"cp": words[-1:], "init": words[2:3], "run": [], "replay": []}.get(verb)
            if made is None:
                continue
            made = [value for option, value in zip(words, words[1:]) if option == "--out"] or made
            for name in made:
                if not PLACEHOLDER.search(name) and name[0] != "-":
                    assert name not in self.made, f"{name} is there already, by: {self.made[name]}"
                    self.made[name] = line


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "build"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--python", required=True, help="with the module on its path")
    parser.add_argument("--long", action="store_true", help="run the searches that take a minute, too")
    args = parser.parse_args()
    sys.path.append(str(args.source / "examples/learning"))
    from scripted_server import scripted

    with tempfile.TemporaryDirectory(prefix="kernelsmith-readme-") as name, scripted(lambda number: f"No idea {number}.") as url:
        scratch = pathlib.Path(name)
        clone = scratch / "clone"
        (clone / "build").mkdir(parents=True)
        shutil.copytree(args.source / "examples", clone / "examples")
        (clone / "build" / "release").symlink_to(args.build)
        (scratch / "python").write_text(f'#!/bin/sh\nexec {args.python} "$@"\n')
        (scratch / "python").chmod(0o755)
        reader = Reader(args, clone, {**os.environ, "HOME": str(scratch), "PATH": f"{args.build / 'bin'}:{scratch}:{os.environ['PATH']}",
                                      "PYTHONPATH": str(args.build / "python"), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"})
        for page in pages(args.source):
            reader.read(page)
    if reader.faults:
        sys.exit("\n\n".join(["", *reader.faults, f"{len(reader.faults)} faults"]))
    print(f"{reader.ran} lines and programs ran, {reader.parsed} were parsed")


if __name__ == "__main__":
    main()
