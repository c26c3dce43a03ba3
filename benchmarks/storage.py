"""How fast and how true episodes are stored and read; writes `benchmarks/results/storage.json`.

    .venv/bin/python benchmarks/storage.py

LeRobot's own dataset is measured beside in the same run, one thread to a numerical library in both.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "SVT_LOG": "1"}

import argparse
import json
import logging
import tempfile
from pathlib import Path

from storage_reads import measure_reads
from storage_writes import measure_writes

from demoloom.pipeline.machine import describe_machine
from demoloom.storage.lineage import code_version

RESULT = Path(__file__).parent / "results" / "storage.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute instead of ten; writes nothing")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["HF_HOME"] = cache
        rows = measure_writes(arguments.quick) + measure_reads(arguments.quick)
    for row in rows:
        print(
            f"{row['name']}: {row['value']} {row['unit']} (beside {row['rival']}, {row['ratio']} x, aim {row['aim']})"
        )
    if not arguments.quick:
        result = {
            "machine": describe_machine(),
            "command": "benchmarks/storage.py",
            "commit": code_version(),
            "rows": rows,
        }
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
