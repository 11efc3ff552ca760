# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that pages print, those with PyTorch among them."""

import pytest
from conftest import find_programs, run_programs


@pytest.mark.parametrize("page", ["README.md", "docs/Python.md"])
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs = find_programs(page)
    assert any(needs_torch for _, needs_torch in programs)
    run_programs([program for program, _ in programs], page)
