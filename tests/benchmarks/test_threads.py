import torch
from threads import use_threads


def test_threads_are_as_many_as_asked_and_then_as_before() -> None:
    before = torch.get_num_threads()
    with use_threads(3):
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before
