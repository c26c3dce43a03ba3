import errno
import fcntl
import json
import os
from pathlib import Path

import numpy as np
import pytest

from demoloom.storage import StoreError
from demoloom.storage.atomic import publish_folder, read_json, replace_file, save_array, share_files, sweep, write_json


def test_write_json_replaces_the_file(tmp_path):
    write_json(tmp_path / "a" / "x.json", {"ü": 1})
    write_json(tmp_path / "a" / "x.json", {"ü": 2})
    assert json.loads((tmp_path / "a" / "x.json").read_text()) == {"ü": 2}
    assert os.listdir(tmp_path / "a") == ["x.json"]
    assert (tmp_path / "a" / "x.json").stat().st_mode & 0o777 == 0o644


def test_a_file_that_was_not_finished_replaces_nothing(tmp_path):
    def half_written():
        with replace_file(tmp_path / "page.html") as temporary:
            temporary.write_text("new")
            raise RuntimeError("half way")

    (tmp_path / "page.html").write_text("old")
    with pytest.raises(RuntimeError, match="half way"):
        half_written()
    assert (tmp_path / "page.html").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_a_file_does_not_replace_a_folder(tmp_path):
    with pytest.raises(StoreError, match="is a folder; name a file"), replace_file(tmp_path):
        pytest.fail("there is nothing to write")


def test_write_json_refuses_nan_and_keeps_the_old_file(tmp_path):
    write_json(tmp_path / "x.json", 1)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "x.json", float("nan"))
    assert (tmp_path / "x.json").read_text() == "1\n"


def test_a_published_folder_appears_only_when_it_is_whole(tmp_path):
    with publish_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("a")
        assert not (tmp_path / "out").exists()
    assert os.listdir(tmp_path) == ["out"]
    assert os.listdir(tmp_path / "out") == ["a"]


def fail_half_way(path):
    with publish_folder(path) as folder:
        (folder / "a").write_text("a")
        raise KeyError("half way")


def test_a_link_is_not_replaced_by_a_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "out").symlink_to("empty")
    with pytest.raises(StoreError, match="out exists already"), publish_folder(tmp_path / "out"):
        pytest.fail("there is nothing to write")


@pytest.mark.parametrize(("path", "what"), [(".", "the current folder"), ("/dev/shm", "a disk")])
def test_a_folder_that_cannot_be_replaced_is_refused_before_the_work(tmp_path, monkeypatch, path, what):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("demoloom.storage.atomic.is_occupied", lambda path: False)
    with pytest.raises(StoreError, match=f"{path} is {what}.*such as"), publish_folder(path):
        pytest.fail("there is nothing to write")
    assert os.listdir(tmp_path) == []


def test_what_killed_writers_left_beside_a_new_folder_is_deleted(tmp_path):
    for name in (".tmp-demoloom-dead", ".tmp-of-someone-else", ".tmp-demoloom-alive"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    lock = os.open(tmp_path / ".tmp-demoloom-alive", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with publish_folder(tmp_path / "out"):
        pass
    os.close(lock)
    assert sorted(os.listdir(tmp_path)) == [".tmp-demoloom-alive", ".tmp-of-someone-else", "out"]


def test_a_folder_whose_writer_fails_never_appears(tmp_path):
    with pytest.raises(KeyError):
        fail_half_way(tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_what_stands_at_the_path_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with pytest.raises(StoreError, match="exists already"):
        fail_half_way(tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "mine"


def test_a_folder_that_another_writer_made_meanwhile_is_left_alone(tmp_path):
    def race():
        with publish_folder(tmp_path / "out"):
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "theirs").write_text("theirs")

    with pytest.raises(StoreError, match="made by another writer"):
        race()
    assert (tmp_path / "out" / "theirs").read_text() == "theirs"


def test_sweep_spares_a_folder_whose_writer_lives(tmp_path):
    with publish_folder(tmp_path / "out") as folder:
        os.utime(folder, (0, 0))
        sweep(tmp_path)
        assert folder.exists()


def test_sweep_deletes_an_old_folder_that_nobody_locks(tmp_path):
    (tmp_path / ".tmp-dead").mkdir()
    os.utime(tmp_path / ".tmp-dead", (0, 0))
    lock = os.open(tmp_path / ".tmp-dead", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    sweep(tmp_path)
    assert (tmp_path / ".tmp-dead").exists()
    os.close(lock)
    sweep(tmp_path)
    assert not (tmp_path / ".tmp-dead").exists()


def test_a_full_disk_is_one_sentence_about_space(tmp_path):
    def fill():
        with publish_folder(tmp_path / "out"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StoreError, match=r"no space left on the disk for .*out; free some"):
        fill()


def test_a_damaged_or_missing_json_file_is_named(tmp_path):
    (tmp_path / "x.json").write_text('{"torn": ')
    for name in ("x.json", "nowhere.json"):
        with pytest.raises(StoreError, match=rf"cannot read .*{name}"):
            read_json(tmp_path / name)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file" / "out", tmp_path / "file" / "deep" / "out"):
        with pytest.raises(StoreError, match=r"cannot make the folder .*file.*; choose another place"):
            fail_half_way(path)
        with pytest.raises(StoreError, match=r"cannot make the folder .*file.*; choose another place"):
            write_json(path, 1)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    def refuse():
        with publish_folder(tmp_path / "out"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with pytest.raises(StoreError, match=r"cannot write .*out .*; choose a folder that you may write to"):
        refuse()


def test_shared_files_can_be_read_by_everyone_in_folders_below_too(tmp_path):
    secret = tmp_path / "a" / "weights"
    secret.parent.mkdir()
    secret.touch(0o600)
    share_files(tmp_path)
    assert secret.stat().st_mode & 0o777 == 0o644


def test_an_array_on_a_full_disk_is_an_error_of_the_disk(tmp_path):
    save_array(tmp_path / "a.npy", np.arange(3))
    assert np.load(tmp_path / "a.npy").tolist() == [0, 1, 2]
    with pytest.raises(OSError, match="No space left") as caught:
        save_array(Path("/dev/full"), np.arange(3))
    assert caught.value.errno == errno.ENOSPC
