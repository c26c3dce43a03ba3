"""What a dataset holds: as text for a terminal, and as one HTML page that needs nothing besides itself."""

from .inspection import Inspection, inspect_dataset
from .page import write_page
from .terminal import print_inspection

__all__ = ["Inspection", "inspect_dataset", "print_inspection", "write_page"]
