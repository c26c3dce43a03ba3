"""What `make demo` came to: reads a finished run folder, writes `benchmarks/results/demo.json`.

    make demo && .venv/bin/python benchmarks/demo.py runs/demo

The rival of every score is the same policy trained on as many real demonstrations, measured in the same run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "demo.json"
COMMAND = "demoloom run --preset tiny --baseline --pretrained-world pusht --run-dir runs/demo"
AIM_MINUTES = 15.0

Row = dict[str, Any]


def row(name: str, value: float, unit: str, rival: float | None = None, aim: float | None = None) -> Row:
    """One line of a result; an aim is met from below for minutes and from above otherwise."""
    met = None if aim is None else (value <= aim if unit == "min" else value >= aim)
    ratio = round(value / rival, 3) if rival else None
    return {"name": name, "value": value, "unit": unit, "rival": rival, "ratio": ratio, "aim": aim, "met": met}


def score_rows(scores: list[Row]) -> list[Row]:
    """Success rate and mean maximum score of every contestant, each with its interval."""
    by_key = {score["key"]: score for score in scores}
    baseline = by_key.get("baseline-in-reality")
    rows = []
    for key, score in by_key.items():
        for measure in ("success_rate", "max_score"):
            value = score[measure]
            against = baseline[measure]["value"] if baseline and key == "policy-in-reality" else None
            rows.append(
                {
                    **row(f"{key}: {measure}", round(value["value"], 4), "share", against),
                    "low": round(value["low"], 4),
                    "high": round(value["high"], 4),
                    "n": score["num_episodes"],
                }
            )
    return rows


def stage_rows(stages: dict[str, Row]) -> list[Row]:
    """Minutes of each stage and of all together."""
    minutes = {name: stage["seconds"] / 60 for name, stage in stages.items()}
    rows = [row(f"stage {name}", round(value, 2), "min") for name, value in minutes.items()]
    return [row("all stages", round(sum(minutes.values()), 1), "min", aim=AIM_MINUTES), *rows]


def generation_rows(stages: dict[str, Row]) -> list[Row]:
    """How many attempts it took, in the world model and (the rival) in reality."""
    made, real = (stages.get(name, {}).get("metrics") for name in ("generate", "collect-baseline"))
    if not made:
        return []
    against = real["num_demonstrations"] / real["num_attempts"] if real else None
    share = made["num_demonstrations"] / made["num_attempts"]
    return [
        row("demonstrations", made["num_demonstrations"], "episodes"),
        row("attempts that became demonstrations", round(share, 3), "share", against),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run_dir", type=Path)
    run_dir = parser.parse_args().run_dir
    lineage = json.loads((run_dir / "lineage.json").read_text())
    scores = json.loads((run_dir / "evaluation" / "scores.json").read_text())["scores"]
    stages = lineage["stages"]
    result = {
        "machine": lineage["machine"],
        "command": COMMAND,
        "commit": lineage["code_version"],
        "rows": stage_rows(stages) + generation_rows(stages) + score_rows(scores),
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {RESULT}")


if __name__ == "__main__":
    main()
