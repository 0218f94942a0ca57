"""Builds a noarch variant of a package for Hugging Face's `kernels`, and lets `kernels` read, check and load it.

usage: hub_checks.py PACKAGE NAME BACKEND; needs `kernels` and PyTorch only."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "python" / "tests"))


def main() -> None:
    import hub_build
    import kernels
    from kernels._rust import Build

    package, name, backend = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    Build.open(package)
    loaded = kernels.get_local_kernel(hub_build.built(package, name, backend))
    print(f"build.toml read, the variant torch-{backend} accepted; {loaded.__name__} has {', '.join(loaded.__all__)}"
          if hasattr(loaded, "__all__") else f"build.toml read, the variant torch-{backend} accepted")


if __name__ == "__main__":
    main()
