"""Sources: licences by SPDX rules, and archives that somebody else packed."""

import io
import tarfile
import zipfile

import kernelsmith as ks
import pytest
from kernelsmith.synthesis import licences, sources
from kernelsmith.synthesis.settings import ALLOWED
from synthesis_repositories import MIT, written

MODULE = "import torch\nclass M(torch.nn.Module):\n    pass\n"


@pytest.mark.parametrize(("text", "name"), [
    (MIT, "MIT"), ("Apache License\n   Version 2.0, January 2004", "Apache-2.0"),
    ("Redistribution and use in source and binary forms ... Neither the name of X", "BSD-3-Clause"),
    ("Redistribution and use in source and binary forms", "BSD-2-Clause"),
    ("GNU GENERAL PUBLIC LICENSE\nVersion 3", "GPL-3.0"), ("GNU AFFERO GENERAL PUBLIC LICENSE", "AGPL-3.0"),
    (MIT + " for non-commercial use", "LicenseRef-restricted"), ("All rights reserved.", "unknown"), ("", "unknown"),
    ("SPDX-License-Identifier: MPL-2.0\n", "MPL-2.0")])
def test_licence_texts(text, name):
    assert licences.of_text(text) == name


@pytest.mark.parametrize(("expression", "good"), [
    ("MIT", True), ("MIT OR GPL-3.0", True), ("MIT AND GPL-3.0", False), ("GPL-3.0 OR (MIT AND ISC)", True), ("(MIT", False),
    ("MIT OR", False), ("", False), ("mit", False), ("Apache-2.0 WITH LLVM-exception", False), ("MIT MIT", False),
        ("(" * 100, False)])
def test_expressions(expression, good):
    assert licences.allowed(expression, ALLOWED) is good


def test_the_nearest_licence_counts_and_a_line_in_the_file_most(tmp_path):
    folder = written(tmp_path / "r", {"a.py": MODULE, "third/LICENSE": "GNU GENERAL PUBLIC LICENSE", "third/b.py": MODULE,
                                     "c.py": "# SPDX-License-Identifier: ISC\n" + MODULE})
    assert {
    one["path"]: one["licence"] for one in sources.source(folder)} == {
        "a.py": "MIT",
        "third/b.py": "GPL-3.0",
         "c.py": "ISC"}


def test_a_project_file_names_the_licence_if_nothing_else_does(tmp_path):
    (tmp_path / "a.py").write_text(MODULE)
    (tmp_path / "pyproject.toml").write_text('[project]\nlicense = {text = "MIT"}\n')
    assert [one["licence"] for one in sources.source(tmp_path)] == ["MIT"]
    (tmp_path / "pyproject.toml").write_text('license = {file = "LICENSE"}\n')
    assert [one["licence"] for one in sources.source(tmp_path)] == ["unknown"]


def packed(path, members, comment=""):
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT,
        pax_headers={"comment": comment} if comment else {}) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            if data is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(info)
            else:
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return path


def test_a_tarball_is_read_without_being_unpacked(tmp_path):
    sha = "0123456789" * 4
    path = packed(tmp_path / "net-1.tar.gz", [("net-1/m.py", MODULE.encode()), ("net-1/LICENSE", MIT.encode()),
                                              ("net-1/link.py", None), ("net-1/data.bin", b"0" * 99)], sha)
    (found,) = sources.source(path)
    assert (found["path"], found["licence"], found["commit"], found["repository"]) == ("m.py", "MIT", sha, "net-1")


def test_paths_that_lead_out_and_large_files_are_left_out(tmp_path):
    path = packed(tmp_path / "a.tar.gz",
    [("../evil.py",
    MODULE.encode()),
    ("/abs.py",
    MODULE.encode()),
    ("a/../../b.py",
    MODULE.encode()),
    ("ok.py",
    MODULE.encode()),
    ("huge.py",
     MODULE.encode() + b"#" * (1 << 20))])
    assert list(sources.opened(path).files) == ["ok.py"]


def test_broken_archives_are_one_clear_error(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 no zip")
    (tmp_path / "b.tar.gz").write_bytes(b"\x1f\x8b nothing")
    for name in ("a.zip", "b.tar.gz"):
        with pytest.raises(ks.Error, match="cannot be read") as error:
            sources.source(tmp_path / name)
        assert error.value.code == "bad_input"
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("r/m.py", MODULE)
    assert [one["path"] for one in sources.source(tmp_path / "c.zip")] == ["m.py"]


def test_sources_that_are_missing_or_named_twice(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "y" / "x").mkdir(parents=True)
    for paths, code in (([tmp_path / "none"], "not_found"), ([tmp_path / "x", tmp_path / \
                        "y" / "x"], "invalid_argument"), ([], "invalid_argument")):
        with pytest.raises(ks.Error) as error:
            sources.found(paths)
        assert error.value.code == code
    assert [one.name for one in sources.found([], [tmp_path])] == ["x", "y"]


def test_links_are_not_followed(tmp_path):
    outside = tmp_path / "secret.py"
    outside.write_text(MODULE)
    folder = written(tmp_path / "r", {"a.py": MODULE})
    (folder / "b.py").symlink_to(outside)
    assert [one["path"] for one in sources.source(folder)] == ["a.py"]
