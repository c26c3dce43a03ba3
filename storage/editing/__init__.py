"""New datasets out of old ones: merged, selected, split, re-timed; what is read stays as it is."""
