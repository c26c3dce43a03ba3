"""The stages of a run: one module each, with its config and a function that any caller can use."""
