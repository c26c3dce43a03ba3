"""What is wrong with a dataset of either format, named by episode and field; and mending what can be mended."""

from .examine import audit
from .finding import Finding
from .repair import Repaired, repair
from .report import Report

__all__ = ["Finding", "Repaired", "Report", "audit", "repair"]
