"""Official checkpoints of the Interactive World Simulator (Wang et al. 2026, arXiv 2603.08546) as worlds."""
