"""What Hugging Face's kernel builder makes of a Triton package (noarch), for tests: build/torch-BACKEND."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

OPS = """\
import torch

ops = torch.ops.UNIQUE


def add_op_namespace_prefix(op_name):
    return f"UNIQUE::{op_name}"
"""


def built(out: Path, name: str, backend: str) -> Path:
    """The folder that kernels.get_local_kernel takes."""
    from kernels._rust import Digest, DigestAlgorithm  # type: ignore[import-not-found]

    variant = out / "build" / f"torch-{backend}"
    shutil.copytree(out / "torch-ext" / name, variant, ignore=shutil.ignore_patterns("__pycache__"))
    unique = f"_{name}_{backend}_0123456"
    (variant / "_ops.py").write_text(OPS.replace("UNIQUE", unique))
    kinds = {"type": "cuda", "archs": ["9.0"]} if backend == "cuda" else {"type": backend}
    digest = Digest.hash_variant(DigestAlgorithm.SHA256, variant).files
    metadata = {"name": name.replace("_", "-"), "id": unique, "version": 1, "license": "Apache-2.0", "python-depends": [],
                "backend": kinds, "digest": {"algorithm": "sha256", "files": digest}}
    (variant / "metadata.json").write_text(json.dumps(metadata))
    return out
