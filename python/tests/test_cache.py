# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache: what is found again, what is not, and what else may happen to files."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import attune_mlir as attune
from attune_mlir import _native, _store


@pytest.fixture
def count_compilations(monkeypatch):
    """Compilations so far, in a list of one."""
    made = [0]
    original = _store.get_or_make

    def get_or_make(key, make):
        def counting():
            made[0] += 1
            return make()

        return original(key, counting)

    monkeypatch.setattr(_store, "get_or_make", get_or_make)
    return made


def find_entry(folder: pathlib.Path) -> pathlib.Path:
    (entry,) = folder.iterdir()
    return entry


def test_found_again(cache_folder, module_text, amd, count_compilations):
    first = attune.compile(module_text, chip=amd)
    assert attune.compile(module_text, chip=amd) == first
    assert count_compilations == [1]
    assert attune.cache.path() == cache_folder
    assert cache_folder.stat().st_mode & 0o777 == 0o700
    info = attune.cache.info()
    assert (info.path, info.entries, info.max_bytes) == (cache_folder, 1, 2 << 30)
    assert info.bytes == find_entry(cache_folder).stat().st_size and info.hits >= 1 and info.misses >= 1
    attune.cache.clear()
    assert attune.cache.info().entries == 0
    attune.cache.clear()


def test_key_has_everything(cache_folder, module_text, amd, nvidia, monkeypatch, count_compilations, tmp_path):
    def compile_new(**options):
        before = count_compilations[0]
        attune.compile(**{"source": module_text, "chip": nvidia, "format": "isa", **options})
        assert count_compilations[0] == before + 1

    compile_new()
    compile_new(chip=amd)
    compile_new(format="llvm")
    compile_new(sms=7)
    compile_new(source=module_text.replace("top_left", "bottom_right"))
    spec = tmp_path / "spec.mlir"
    text = f'module attributes {{attune.tuned_for = "{nvidia}"}} {{}}'
    spec.write_text(text)
    compile_new(tuning_specs=[spec])
    spec.write_text(text + "\n")
    compile_new(tuning_specs=[spec])
    monkeypatch.setattr(_native, "toolchain", lambda chip, assembler: "another")
    compile_new(format="bin", chip=amd)
    monkeypatch.setattr(_native, "build_id", lambda: "another")
    compile_new()


def test_errors_are_not_stored(cache_folder, module_text):
    with pytest.raises(attune.CompileError):
        attune.compile(module_text, chip="moon")
    assert attune.cache.info().entries == 0


@pytest.mark.parametrize("damage", ["", "attune-cache 1 0\n{}", b"\xff\xfe\n", None, "cut", "key"])
def test_damaged(cache_folder, module_text, amd, count_compilations, damage):
    first = attune.compile(module_text, chip=amd)
    entry = find_entry(cache_folder)
    good = entry.read_bytes()
    if damage == "cut":
        entry.write_bytes(good[:-1])
    elif damage == "key":  # that of another one
        _store._write(entry, "0" * 64, {"kernels": [], "sequences": [], "diagnostics": ""})
    elif damage is None:
        entry.unlink()
        entry.mkdir()
    else:
        entry.write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    assert attune.compile(module_text, chip=amd) == first
    assert count_compilations == [2]
    if damage is not None:
        assert entry.read_bytes() == good
    assert not [file for file in cache_folder.iterdir() if file.name.startswith(_store._TEMPORARY)]


@pytest.mark.parametrize("place", ["file", "full", "gone"])
def test_unusable_folder(tmp_path, monkeypatch, module_text, amd, place):
    """A folder that cannot be made, and a disk that is full, cost nothing but time."""
    folder = tmp_path / "folder"
    if place == "file":
        folder.write_text("not a folder")
    elif place == "full":

        def fail(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
    else:
        folder = pathlib.Path("/proc/nowhere")
    monkeypatch.setenv("ATTUNE_CACHE_DIR", str(folder))
    assert attune.compile(module_text, chip=amd).kernels
    assert attune.cache.info().entries == 0
    attune.cache.clear()


def test_interrupted(cache_folder, module_text, amd, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        attune.compile(module_text, chip=amd)
    assert not list(cache_folder.iterdir())


def test_bounded(cache_folder, module_text, amd, monkeypatch):
    """What was used longest ago goes first; what killed processes left goes after an hour."""
    variants = [module_text.replace("top_left", side) for side in ("top_left", "bottom_right")]
    attune.compile(variants[0], chip=amd)
    first = find_entry(cache_folder)
    attune.compile(variants[1], chip=amd)
    (second,) = set(cache_folder.iterdir()) - {first}
    size = max(first.stat().st_size, second.stat().st_size)
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    attune.compile(variants[0], chip=amd)  # used now
    old, new = (cache_folder / f"{_store._TEMPORARY}{name}" for name in ("old", "new"))
    for file in (old, new):
        file.touch()
    os.utime(old, (time.time() - 7200,) * 2)
    monkeypatch.setenv("ATTUNE_CACHE_MAX_BYTES", str(int(2.5 * size)))
    attune.compile(module_text.replace("causal(top_left)", ""), chip=amd)
    assert first.exists() and not second.exists() and new.exists() and not old.exists()
    monkeypatch.setenv("ATTUNE_CACHE_MAX_BYTES", "many")
    with pytest.raises(ValueError, match="expects ATTUNE_CACHE_MAX_BYTES to be a number of bytes, but got 'many'"):
        attune.cache.info()


def test_places(monkeypatch):
    monkeypatch.delenv("ATTUNE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert attune.cache.path() == pathlib.Path("/xdg/attune")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/somebody")
    assert attune.cache.path() == pathlib.Path("/somebody/.cache/attune")


def test_what_is_stored():
    with pytest.raises(TypeError, match="expects what JSON has, or bytes, but got object"):
        _store._encode(object())


WRITER = """
import sys
from attune_mlir import _store
for round in range(40):
    for number in range(4):
        key = _store.make_key(module=b"%d" % number)
        result = _store.get_or_make(key, lambda: {"kernels": [("k", bytes([number]) * 300000, False, "{}")]})
        assert result["kernels"][0][1] == bytes([number]) * 300000
    if round % 3 == int(sys.argv[1]) % 3:
        for file, _ in list(_store.list_entries()):
            if not file.name.startswith(_store._TEMPORARY):
                _store.remove(file.path)
"""


def test_many_processes(cache_folder):
    """16 processes write, read and remove the same entries; some are killed meanwhile. All the others are right."""
    workers = [subprocess.Popen([sys.executable, "-c", WRITER, str(number)], stderr=subprocess.PIPE, text=True) for number in range(16)]
    deadline = time.monotonic() + 300
    while not cache_folder.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    for worker in workers[:4]:
        time.sleep(0.05)
        worker.send_signal(signal.SIGKILL)
    for number, worker in enumerate(workers):
        _, said = worker.communicate(timeout=300)
        assert number < 4 or worker.returncode == 0, said
    # Nothing half is left under the name of an entry.
    for file, _ in _store.list_entries():
        if not file.name.startswith(_store._TEMPORARY):
            assert _store._read(pathlib.Path(file.path), file.name.removesuffix(_store._SUFFIX)) is not None
