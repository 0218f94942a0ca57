"""The recorded spaces of the benches: where they lie below KERNELSMITH_SEARCH_DATA, and what they hold.

    KERNELSMITH_SEARCH_DATA=... python3 tuning_spaces.py --unpack FOLDER     writes what search_quality --recorded reads
"""

import gzip
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

HUB = "AutoTuningAssociation+benchmark_hub"
UNUSED = f"{HUB}/currently_unused/cachefiles/KernelTuner data"
GEMM = {"2080Ti": "RTX_2080_Ti", "3060": "RTX_3060_laptop", "3090": "RTX_3090", "Titan": "RTX_Titan"}

# Name -> (file, developed on). Those that the tuner was not developed on give the verdict. Dedispersion on NVIDIA
# GPUs is left out: random search needs a third of the space there (3 to 8 good points of 11,130).
SPACES = {f"gemm {gpu}": (f"{UNUSED}/gemm/{file}.json.gz", True) for gpu, file in GEMM.items()}
SPACES |= {
    f"convolution {gpu}": (f"{HUB}/cachefiles/convolution_milo/{gpu}.json.gz", gpu in ("A100", "A4000", "W6600"))
    for gpu in ("A100", "A4000", "W6600", "A6000", "MI250X", "W7800")
}
SPACES |= {f"dedispersion {gpu}": (f"{HUB}/cachefiles/dedispersion_milo/{gpu}.json.gz", False)
           for gpu in ("MI250X", "W6600", "W7800")}
SPACES |= {f"pnpoly {gpu}": (f"{UNUSED}/pnpoly/{file}.json.gz", False) for gpu, file in GEMM.items()}


def unpacked(name: str, data: Path) -> str:
    """The cache without what the worlds do not read, which is most of it."""
    document = json.loads(gzip.decompress((data / SPACES[name][0]).read_bytes()))
    names = [key for key, values in document["tune_params"].items() if len(values) > 1]
    rows = {key: {one: row.get(one) for one in (*names, "time", "times") if one in row} for key, row in document["cache"].items()}
    return json.dumps({"tune_params_keys": names, "cache": rows}, separators=(",", ":"))


def main() -> None:
    data, folder = Path(os.environ["KERNELSMITH_SEARCH_DATA"]), Path(sys.argv[sys.argv.index("--unpack") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in SPACES:
        if not (folder / f"{name}.json").exists():
            (folder / f"{name}.json").write_text(unpacked(name, data))


@dataclass
class Space:
    """One cache as Kernel Tuner's simulation takes it."""

    name: str
    tune_params: dict
    cache: dict
    near: set  # keys of the points within 5 % of the optimum

    def restriction(self):
        """Holds exactly for the recorded points, the failed ones included."""
        from constraint import FunctionConstraint
        names = list(self.tune_params)
        known = {tuple(row[name] for name in names) for row in self.cache.values()}
        return FunctionConstraint(lambda *values: values in known)


def read_cache(name: str, data: Path) -> Space:
    """Reads one space of SPACES. A recorded time that is a word is a failure."""
    from kernel_tuner import util
    document = json.loads(gzip.decompress((data / SPACES[name][0]).read_bytes()))
    cache = {}
    for key, row in document["cache"].items():
        cache[key] = dict(row)
        if isinstance(row["time"], str):
            cache[key]["__error__"] = getattr(util, row["time"])()
    times = {key: row["time"] for key, row in cache.items() if "__error__" not in row}
    best = min(times.values())
    near = {key for key, value in times.items() if value <= 1.05 * best}
    return Space(name, document["tune_params"], cache, near)


if __name__ == "__main__":
    main()
