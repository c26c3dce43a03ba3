"""What a dataset holds: as text for a terminal, and as one HTML page that needs nothing besides itself."""

from .choice import shown_episodes
from .distributions import Distribution, Distributions, measure
from .inspection import Inspection, inspect_dataset
from .page import write_page

__all__ = [
    "Distribution",
    "Distributions",
    "Inspection",
    "inspect_dataset",
    "measure",
    "shown_episodes",
    "write_page",
]
