# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches of modules, and the reports of searches."""

import json
import os
import shutil
import tempfile

import pytest
from conftest import find_chip

import attune_mlir as attune

MODULE = """
func.func @attention(%q: tensor<1x1x?x32xf16>) -> tensor<1x1x?x32xf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x1x?x32xf16>, tensor<1x1x?x32xf16>, tensor<1x1x?x32xf16>
  return %o : tensor<1x1x?x32xf16>
}
"""
SIZES = {"seq-q": 64, "seq-k": 64}


@pytest.fixture
def options(tmp_path, cache_folder):
    return {"chip": find_chip("CDNA"), "device": "none", "sizes": SIZES, "database": tmp_path / "tuning.db", "jobs": 1}


def test_search(options, capfd):
    found = attune.search(MODULE, budget="60s,3", **options)
    assert "nothing was timed" in capfd.readouterr().err
    (problem,) = found.problems
    assert (problem.name, problem.chip, problem.timed, problem.tried) == ("attention", options["chip"], False, 3)
    assert len(problem.results) == 3 and problem.best in problem.results and problem.default in problem.results
    assert problem.best.score == min(result.score for result in problem.results if result.score)
    assert str(found).startswith(f"attention on {options['chip']}: 3 schedules, best ") and "us (predicted) with " in str(found)
    # The schedule is on the op, and compiled as it is.
    (attention,) = found.module.walk("attn.attention")
    assert attention.attributes["schedule"].value.startswith("#schedule.attention<")
    assert len(attune.compile(found.module, chip=options["chip"], format="isa").kernels) == 1
    # What the database has.
    rows = attune.reports.read_database(str(options["database"]))
    assert len(rows) == 3 and {(row.problem, row.chip, row.status, row.median_ns) for row in rows} == {
        ("attention", options["chip"], "ok", None)
    }
    assert min(row.score for row in rows) == problem.best.score and problem.best.schedule in [row.schedule for row in rows]
    assert len(list(attune.parse(rows[0].text).walk("attn.attention"))) == 1
    again = attune.search(attune.parse(MODULE), budget="60s,3", quiet=True, **options)
    assert again.problems[0].best.schedule == problem.best.schedule and again.problems[0].tried == 3
    assert len(attune.reports.read_database(str(options["database"]))) == 3
    # The compiler's choice is all that is looked at then, for no winner has a time.
    assert attune.search(MODULE, budget=0, quiet=True, **options).problems[0].tried == 1
    assert capfd.readouterr().err == ""


def test_what_cannot_be(options, tmp_path):
    with pytest.raises(attune.CompileError):
        attune.search("func.func @f( {", **options)
    with pytest.raises(ValueError, match="expects device to be one of auto, cuda, hip, none, host, but got 'tpu'"):
        attune.search(MODULE, **{**options, "device": "tpu"})
    with pytest.raises(ValueError, match="expects chip to be one of .*, but got 'moon'"):
        attune.search(MODULE, **{**options, "chip": "moon"})
    with pytest.raises(ValueError, match="expects size seq-q to be a number of at least 0, but got -1"):
        attune.search(MODULE, **{**options, "sizes": {"seq-q": -1}})
    with pytest.raises(ValueError, match="expects a budget of more than 0 seconds, but got -1"):
        attune.search(MODULE, budget=-1, **options)
    with pytest.raises(RuntimeError, match="length"):
        attune.search(MODULE, budget="1", quiet=True, **{**options, "sizes": {"length": 3}})
    (tmp_path / "other.db").write_text("no database")
    with pytest.raises(RuntimeError, match="database"):
        attune.search(MODULE, budget="1", quiet=True, **{**options, "database": tmp_path / "other.db"})


RESULT = {"schedule": {"block-m": 64}, "status": "ok", "median_ns": 2000.0, "resources": {"registers": 90, "spill_bytes": 0}}
PROBLEM = {
    "problem": "attention",
    "chip": "some chip",
    "device": "one",
    "flops": 4e9,
    "timed": True,
    "executed": False,
    "tried": 2,
    "statuses": {"ok": 2},
    "refused": {"registers": {"count": 7, "message": "too many"}},
    "results": [RESULT, {**RESULT, "median_ns": 1000.0, "origin": {"lineage": "seed", "step": "block-m", "parents": [0]}}],
    "default": 0,
    "best": 1,
}


def test_report(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"problems": [PROBLEM]}))
    (problem,) = attune.reports.read_report(str(path))
    assert problem.best.median_ns == 1000 and problem.best.registers == 90 and problem.default is problem.results[0]
    assert problem.illegal == {"registers": (7, "too many")} and problem.best.origin.parents == [0]
    assert problem.tflops(problem.cost(problem.best)) == 4000 and problem.place == "one"
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"problems": [{**PROBLEM, "chip_state": "cool", "timed": False}]}))
    first, second = attune.reports.read_reports([str(path), str(other)])
    assert (first.label, second.label) == ("report", "other")
    assert second.place == "one, cool" and second.cost(second.best) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", r":1:2: expects JSON, but got: Expecting value"),
        ('{"problems": [NaN]}', "expects JSON, but got NaN"),
        ("[]", r"expects a report of attune-tune, an object with 'problems', but got \[\]"),
        ('{"problems": 3}', "expects a list as problems, but got 3"),
        (json.dumps({"problems": [{**PROBLEM, "best": 2}]}), r"expects the index of one of 2 results as problems\[0\].best, but got 2"),
        (json.dumps({"problems": [{**PROBLEM, "tried": True}]}), "expects an integer from 0"),
        (json.dumps({"problems": [{**PROBLEM, "flops": -1}]}), "expects a number from 0"),
        ("\xff", "expects text in UTF-8"),
    ],
)
def test_reports_that_are_wrong(tmp_path, text, message):
    path = tmp_path / "report.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(attune.reports.InputError, match=message):
        attune.reports.read_report(str(path))


def test_databases_that_are_wrong(tmp_path):
    with pytest.raises(ValueError, match="none.db: expects a database of attune-tune, but got: unable to open"):
        attune.reports.read_database(str(tmp_path / "none.db"))
    (tmp_path / "text?.db").write_text("no database" * 100)
    with pytest.raises(ValueError, match="expects a database of attune-tune, but got: file is not a database"):
        attune.reports.read_database(str(tmp_path / "text?.db"))


def test_databases_where_nobody_can_write(options):
    attune.search(MODULE, budget="60s,1", quiet=True, **options)
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(options["database"], folder)
        os.chmod(folder, 0o555)
        # Permissions do not bind the superuser.
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            assert len(attune.reports.read_database(path)) == 1
        finally:
            os.seteuid(user)
            os.chmod(folder, 0o755)


def test_reports_of_nothing(tmp_path):
    path = tmp_path / "report.json"
    with pytest.raises(ValueError, match="expects a file that can be read, but got: No such file"):
        attune.reports.read_report(str(path))
    path.write_text(json.dumps({"problems": [{**PROBLEM, "tried": 0}]}))
    assert attune.reports.read_report(str(path))[0].tried == 0
    with pytest.raises(ValueError, match="expects candidates that were tried, but got none"):
        attune.reports.read_reports([str(path)])
