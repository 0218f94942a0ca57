"""What the tests share: a search that takes microseconds, and a task that the shell scores."""

import os
import subprocess
import sys

import dataset_runs
import kernelsmith as ks
import pytest
import support


@pytest.fixture
def task(tmp_path):
    """A task folder whose fitness is the sum of the candidate's knobs."""
    return support.write_task(tmp_path / "hill")


@pytest.fixture
def script(tmp_path):
    """Starts a Python program of its own that imports this package and this folder's modules."""

    def start(text, *arguments, **options):
        file = tmp_path / "program.py"
        file.write_text(text)
        return subprocess.Popen([sys.executable, str(file), *map(str, arguments)], env=support.environment(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **options)

    return start


@pytest.fixture
def sandboxed(task):
    """Skips if no candidate can be run, unless KERNELSMITH_SANDBOX=required."""
    try:
        ks.evaluate(task, support.SEED, quick=True)
    except ks.Error as error:
        if os.environ.get("KERNELSMITH_SANDBOX") == "required":
            raise
        pytest.skip(f"candidates cannot be run here: {error}")


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Two runs whose replies were kept."""
    folder = tmp_path_factory.mktemp("runs")
    return [dataset_runs.searched(folder / "a.run", name="a"), dataset_runs.searched(folder / "b.run", 25, name="b")]
