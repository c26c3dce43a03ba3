import pytest

from demoloom.storage.columns import image_key, label_key, name_in


@pytest.mark.parametrize("name", ["top", "left/wrist", "50%", "%2F", "a / b%25"])
def test_a_name_comes_back_from_its_column(name):
    for key in (image_key(name), label_key(name)):
        assert name_in(key) == name
        assert "/" not in key


def test_no_two_names_share_a_column():
    assert image_key("a/b") == "observation.images.a%2Fb"
    assert image_key("a%2Fb") == "observation.images.a%252Fb"
