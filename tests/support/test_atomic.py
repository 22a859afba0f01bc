"""Atomic writes, checks of output files before the work, and one-line errors of programs."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gin_env import cli
from gin_env.support import atomic, files
from gin_env.support.exits import one_line_errors


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- Writing ------------------------------------------------------------------------------------------


def test_written_files_round_trip(tmp_path):
    atomic.write_text(tmp_path / "a.txt", "naïve\n")
    files.write_json(tmp_path / "a.json", {"rate": 0.5})
    files.write_csv(tmp_path / "a.csv", ["bot", "rate"], [["a,b", 1], ["c", 2]])
    assert (tmp_path / "a.txt").read_bytes() == "naïve\n".encode()
    assert (tmp_path / "a.json").read_text() == '{\n  "rate": 0.5\n}\n'
    assert (tmp_path / "a.csv").read_bytes() == b'bot,rate\n"a,b",1\nc,2\n'
    assert names(tmp_path) == ["a.csv", "a.json", "a.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.EFBIG, "File too large")], ids=repr)
def test_error_during_a_write_leaves_only_the_old_file(tmp_path, error):
    path = tmp_path / "a.txt"
    atomic.write_text(path, "good")

    def write_half() -> None:
        with atomic.replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)) as caught:
        write_half()
    assert getattr(caught.value, "filename", str(path)) == str(path)
    assert path.read_text() == "good"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("moment", ["os.fsync", "os.replace", "atomic._flush_folder"])
def test_kill_at_any_step_leaves_the_old_or_the_new_file(tmp_path, moment):
    path = tmp_path / "a.txt"
    path.write_text("old " * 1000)
    code = (
        "import os, signal\nfrom gin_env.support import atomic\n"
        f"def kill(*_): os.kill(os.getpid(), signal.SIGKILL)\n{moment} = kill\n"
        f"atomic.write_text({str(path)!r}, 'new ' * 1000)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    assert path.read_text() == ("new " if moment == "atomic._flush_folder" else "old ") * 1000
    stale = [name for name in names(tmp_path) if name != "a.txt"]
    assert len(stale) == (moment != "atomic._flush_folder")
    for name in stale:  # a later write removes files that no process is still writing
        os.utime(tmp_path / name, (0, time.time() - 2 * atomic.STALE))
    atomic.write_text(path, "newest")
    assert names(tmp_path) == ["a.txt"]


def test_temporary_file_of_another_writer_is_kept(tmp_path):
    other = tmp_path / ".a.txt.12345678.partial"
    other.write_text("half")
    atomic.write_text(tmp_path / "a.txt", "whole")
    assert names(tmp_path) == [other.name, "a.txt"]


def test_links_are_followed_and_permissions_kept(tmp_path):
    real = tmp_path / "real.txt"
    real.write_text("old")
    real.chmod(0o640)
    (tmp_path / "link.txt").symlink_to(real)
    atomic.write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_device_is_written_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    atomic.check_targets(pipe)
    atomic.write_text(pipe, "for the reader")
    assert os.read(reader, 100) == b"for the reader"
    os.close(reader)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("mode", [pytest.param("wb", marks=pytest.mark.long), "ab"])
def test_json_to_standard_output_is_appended_in_order(tmp_path, mode):
    log = tmp_path / "log"
    log.write_text("precious\n")
    code = (
        "from gin_env.support.files import write_json\n"
        "print('before'); write_json('/dev/stdout', 1); print('after')"
    )
    with log.open(mode) as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    kept = ["precious"] if mode == "ab" else []
    assert log.read_text().splitlines() == [*kept, "before", "1", "after"]
    assert names(tmp_path) == ["log"]


# --- Checks of the outputs ----------------------------------------------------------------------------


def test_unwritable_targets_have_distinct_errors(tmp_path):
    with pytest.raises(IsADirectoryError):
        atomic.check_targets(tmp_path)
    with pytest.raises(IsADirectoryError):
        atomic.check_targets(Path(""))
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        atomic.check_targets(tmp_path / "nowhere" / "a.json")
    with pytest.raises(ValueError, match="named for two outputs"):
        atomic.check_targets(tmp_path / "a", None, tmp_path / ".." / tmp_path.name / "a")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        atomic.check_folder(tmp_path / "file" / "pictures")
    atomic.check_folder(tmp_path / "new" / "pictures")
    assert names(tmp_path) == ["file"]


def test_read_only_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("good")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root can write everywhere
    with pytest.raises(PermissionError):
        atomic.check_targets(path)
    assert path.read_text() == "good"


def test_full_disk_is_noticed_before_the_work(tmp_path, monkeypatch):
    """The command would take minutes; its work is never started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "touch", full_disk)
    (tmp_path / "good").write_text("good")
    done = CliRunner().invoke(cli.app, ["match", "simple", "random", "--json", "good"])
    assert isinstance(done.exception, OSError)
    assert done.exception.errno == errno.ENOSPC
    assert done.exception.filename == "good"
    assert (tmp_path / "good").read_text() == "good"
    assert names(tmp_path) == ["good"]


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# --- Errors of programs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "line", "status"),
    [
        (KeyboardInterrupt(), "interrupted", 130),
        (ValueError("unknown bot"), "unknown bot", 2),
        (FileNotFoundError(2, "No such file", "a.zip"), "[Errno 2] No such file: 'a.zip'", 2),
        (OSError(errno.ENOSPC, "No space left on device", "a.json"), "No space left on device: a.json", 1),
        (OSError("write error"), "write error", 1),
    ],
)
def test_errors_print_one_line_and_set_the_status(capsys, error, line, status):
    with pytest.raises(SystemExit) as ended, one_line_errors("program"):
        raise error
    assert ended.value.code == status
    assert capsys.readouterr().err == f"program: {line}\n"


def test_bug_keeps_its_traceback():
    with pytest.raises(IndexError), one_line_errors("program"):
        raise IndexError("a bug")
