"""The same bytes for the same runs, however often an export was cut off."""

import os
import signal
import sys

import pytest
from dataset_runs import MIT, files
from kernelsmith.learning.dataset import Settings, export

KINDS = ["sft", "rl", "multiturn", "preference"]


@pytest.mark.parametrize("kind", KINDS)
def test_two_exports_are_equal_whatever_the_order_of_the_runs(runs, tmp_path, kind):
    pytest.importorskip("pyarrow")
    settings = Settings(kind=kind, format="both", licences=MIT, shard_rows=7)
    export(runs, tmp_path / "one", settings)
    export(runs[::-1], tmp_path / "other", settings)
    export(runs, tmp_path / "one", settings)
    assert files(tmp_path / "one") == files(tmp_path / "other")


def killed(runs, out, settings, moment):
    """Exports in a child process that is killed before its file operation of this number. Whether it was."""
    child = os.fork()
    if child == 0:
        left = [moment]

        def audit(event, arguments):
            if event in ("open", "os.rename") and str(out) in str(arguments[0]):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(audit)
            export(runs, out, settings)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_an_export_that_was_killed_goes_on_to_the_same_bytes(runs, tmp_path):
    settings = Settings(kind="preference", format="jsonl", licences=MIT, shard_rows=1)
    made = export(runs[1:], tmp_path / "whole", settings)
    assert len(made.files) > 1
    for moment in range(20):
        out = tmp_path / f"killed {moment}"
        assert killed(runs[1:], out, settings, moment)
        export(runs[1:], out, settings)
        assert files(out) == files(tmp_path / "whole")


def test_what_is_whole_is_not_written_again(runs, tmp_path):
    settings = Settings(kind="sft", format="jsonl", licences=MIT, shard_rows=4)
    made = export(runs, tmp_path, settings)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in made.files}
    (tmp_path / made.files[1]).unlink()
    export(runs, tmp_path, settings)
    changed = {name for name in made.files if (tmp_path / name).stat().st_mtime_ns != before[name]}
    assert changed == {made.files[1]}
