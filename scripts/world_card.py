"""Writes the card of a bundled world from its files.

python scripts/world_card.py generators/learned/bundled/pusht
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

CARD = """# The world `{name}`

A learned PushT: 64 x 64 pixels at 10 Hz, on a CPU. It comes with demoloom and is used wherever a world is asked for by
the name `{name}`.

**Made by** `scripts/bundle-world`: {frames:,} frames of play in gym-pusht (contact seeking, a noisy scripted expert,
long turns of random pushes, idling; seed 0, preset `cpu`), trained in about an hour on two CPU cores that other work
shared. Nothing was downloaded. {size:.1f} MB.

**On episodes held out** of that play, from their first frame on recorded actions:

| steps | PSNR | foreground | autoencoder alone | first frame for ever | SSIM |
|---|---|---|---|---|---|
{rows}

Score read from real frames: error {score_error:.3f}; success above {success_threshold:.3f}, precision
{success_precision:.2f}, recall {success_recall:.2f}. What it does over 9,000 steps, and how far its trust can be
trusted, stands in docs/world-model.md.

**Limits.** It knows this board, this T, this camera and this size of picture. It needs the block's pose as a label in
training and reads it from the first frame by its probe. Pushed into a corner, or squeezed between agent and wall, the T
moves as physics would have it only on average: physics is chaotic there. It draws what its state says and nothing else:
a hand in the picture stays undrawn.
"""


def card(folder: Path) -> str:
    """The card of the world in `folder`."""
    metrics = json.loads((folder / "metrics.json").read_text())
    size = sum(file.stat().st_size for file in folder.rglob("*.*") if file.name != "CARD.md") / 1e6
    columns = ("psnr", "psnr_foreground", "psnr_autoencoder", "psnr_no_change")
    rows = [
        f"| {row['steps']} | " + " | ".join(f"{row[name]:.1f} dB" for name in columns) + f" | {row['ssim']:.3f} |"
        for row in metrics["open_loop"]
    ]
    keys = ("frames", "score_error", "success_threshold", "success_precision", "success_recall")
    known = {key: metrics[key] for key in keys}
    return CARD.format(name=folder.name, size=size, rows="\n".join(rows), **known)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    (target / "CARD.md").write_text(card(target))
