# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as a whole: names, import, pages, types and style."""

import ast
import pathlib
import subprocess
import sys

import pytest
from conftest import find_programs, run_programs

import attune_mlir as attune
from attune_mlir import _native

SOURCE = pathlib.Path(__file__).parents[1]


def test_names():
    for name in attune.__all__:
        assert getattr(attune, name).__doc__, name
    assert dir(attune) == attune.__all__ == sorted(attune.__all__)
    with pytest.raises(AttributeError, match="module 'attune_mlir' has no attribute 'attend'"):
        attune.attend  # noqa: B018


def test_import_is_cheap():
    """Neither the compiler nor a framework is loaded, which would take seconds."""
    program = """
import sys, time
start = time.perf_counter()
import attune_mlir
print(time.perf_counter() - start)
assert not {"attune_mlir._native", "numpy", "torch"} & sys.modules.keys()
"""
    times = [float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout) for _ in range(5)]
    assert min(times) < 1


def test_stub_is_complete():
    """The stub of the extension names what is there, no more and no less."""
    tree = ast.parse((SOURCE / "attune_mlir" / "_native.pyi").read_text(encoding="utf-8"))

    def get_names(body):
        names = set()
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.Assign):
                names.add(node.targets[0].id)
            elif isinstance(node, ast.AnnAssign):
                names.add(node.target.id)
        return names

    def get_public(scope):
        return {name for name in vars(scope) if not name.startswith("_")}

    assert get_names(tree.body) == get_public(_native)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name != "DataType":
            assert {name for name in get_names(node.body) if not name.startswith("_")} == get_public(getattr(_native, node.name)), node.name


@pytest.mark.parametrize("page", ["README.md", "docs/Python.md", "python/README.md"])
def test_page(page, tmp_path, monkeypatch):
    """The programs of a page run as they are printed, one after the other; those with PyTorch in a test of their own."""
    monkeypatch.chdir(tmp_path)
    programs = [program for program, needs_torch in find_programs(page) if not needs_torch]
    assert programs
    run_programs(programs, page)


@pytest.mark.parametrize(
    "command",
    [
        *(["ruff", *style, "--config", "pyproject.toml", ".", "../examples/engine"] for style in (["check"], ["format", "--check"])),
        ["mypy"],
    ],
    ids=["ruff", "format", "mypy"],
)
def test_style(command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
