import hashlib

import pytest

from demoloom.storage import StoreError, code_version, hash_folder


def test_a_hash_is_over_relative_names_and_bytes(tmp_path):
    for root in ("one", "two"):
        (tmp_path / root / "sub").mkdir(parents=True)
        (tmp_path / root / "sub" / "a").write_bytes(b"1")
    expected = hashlib.sha256(b"sub/a\0" + hashlib.sha256(b"1").digest()).hexdigest()
    assert hash_folder(tmp_path / "one") == hash_folder(tmp_path / "two") == expected


def test_a_hash_changes_with_a_byte_a_name_or_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    seen = {hash_folder(tmp_path)}
    (tmp_path / "a").write_bytes(b"2")
    seen.add(hash_folder(tmp_path))
    (tmp_path / "a").rename(tmp_path / "b")
    seen.add(hash_folder(tmp_path))
    (tmp_path / "c").write_bytes(b"")
    seen.add(hash_folder(tmp_path))
    assert len(seen) == 4


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"folder to hash at .*nowhere"):
        hash_folder(tmp_path / "nowhere")


def test_the_code_version_starts_with_the_package_version():
    assert code_version().startswith("0.1.0")
