"""The report of a run: one HTML page that needs nothing besides itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...storage.progress import Progress, silent
from ..run_folder import RunFolder


def write_report(folder: RunFolder, out: Path, progress: Progress = silent) -> dict[str, Any]:
    """Write `out/index.html` from what the run's finished stages left; an older report is replaced.

    Returns:
        The size of the page in bytes.
    """
    from .page import render

    page = render(folder, progress)
    out.mkdir(parents=True, exist_ok=True)
    temporary = out / ".index.html.tmp"
    temporary.write_text(page, encoding="utf-8")
    temporary.replace(out / "index.html")
    return {"num_bytes": len(page.encode())}
