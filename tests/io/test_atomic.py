import os
import subprocess
import sys

import pytest

from ai4animation.io.atomic import atomic_write


def test_the_new_file_appears_whole(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as file:
        file.write(b"abc")
        assert not path.exists()
    assert path.read_bytes() == b"abc"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [OSError("disk is full"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(type(error)), atomic_write(path) as file:
        file.write(b"half of the new")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_killed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    code = f"""
from ai4animation.io.atomic import atomic_write
with atomic_write({str(path)!r}) as file:
    file.write(b"half"); file.flush()
    print("ready", flush=True)
    time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().strip() == "ready"
    child.kill()
    child.wait()
    child.stdout.close()
    assert path.read_bytes() == b"old"


def test_mode_of_the_old_file_is_kept_and_new_files_follow_the_mask(tmp_path):
    if os.name == "nt":
        pytest.skip("no file modes on Windows")
    path = tmp_path / "file"
    with atomic_write(path) as file:
        file.write(b"1")
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    with atomic_write(path) as file:
        file.write(b"2")
    assert path.stat().st_mode & 0o777 == 0o640


def test_missing_folder_and_folder_as_file(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="the folder of .* does not exist; create"),
        atomic_write(tmp_path / "no" / "f"),
    ):
        pass
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"), atomic_write(tmp_path):
        pass


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_refused_and_long_names_are_not(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (
        pytest.raises(OSError, match="is no regular file; name another one"),
        atomic_write(tmp_path / "pipe"),
    ):
        pass
    with atomic_write(tmp_path / ("n" * 250)) as file:
        file.write(b"1")


def test_a_full_disk_is_reported_with_the_file(tmp_path):
    with pytest.raises(OSError, match="No space left on device.*wanted"), atomic_write(tmp_path / "wanted"):
        raise OSError(28, "No space left on device")
