"""The example of docs/storage.md does what the page says."""

import re
from pathlib import Path

from demoloom.storage import open_dataset
from demoloom.storage.audit import audit

PAGE = Path(__file__).parents[2] / "docs" / "storage.md"


def test_the_example_of_the_documentation_records_each_take_once_however_often_it_runs(tmp_path, monkeypatch):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        exec(example, {})
    assert open_dataset("recordings").ids() == ["take-000", "take-001", "take-002"]
    assert audit("recordings").findings == ()
