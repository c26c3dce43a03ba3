"""What a team needs to test a store of its own."""

from .contracts import StoreContract
from .numbered import assert_same, numbered_episode, numbered_spec

__all__ = ["StoreContract", "assert_same", "numbered_episode", "numbered_spec"]
