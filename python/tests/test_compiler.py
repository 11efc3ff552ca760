# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules, passes, compilation and their errors."""

import pathlib
import pickle
import threading

import pytest

import attune_mlir as attune
from attune_mlir import _compiler


def test_chips():
    chips = attune.chips()
    assert [chip.name for chip in chips] == sorted(chip.name for chip in chips)
    assert {chip.lanes for chip in chips} == {32, 64}
    assert all(chip.sms > 0 and chip.shared_bytes >= 1 << 16 and chip.registers > 0 and chip.max_threads == 1024 for chip in chips)


def test_version():
    assert "LLVM 22" in attune.version()


def test_parse_print_bytecode(module_text):
    module = attune.parse(module_text)
    assert "attn.attention" in str(module)
    assert '"attn.attention"(' in module.print(generic=True)
    assert 'loc("mine.mlir":' in attune.parse(module_text, filename="mine.mlir").print(locations=True)
    assert module.bytecode().startswith(b"ML\xefR")
    assert str(attune.parse(module.bytecode())) == str(module)


def test_parse_errors():
    with pytest.raises(attune.CompileError, match="expects query and key") as caught:
        attune.parse(
            """func.func @f(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x64x32xf16>) -> tensor<1x2x64x32xf16> {
  %o = attn.attention %q, %k, %k : tensor<1x2x64x64xf16>, tensor<1x2x64x32xf16>, tensor<1x2x64x32xf16>
  return %o : tensor<1x2x64x32xf16>
}""",
            filename="bad.mlir",
        )
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.severity, diagnostic.file, diagnostic.line, diagnostic.column) == ("error", "bad.mlir", 2, 8)
    assert str(caught.value).startswith("bad.mlir:2:8: error: ")
    assert len(caught.value.diagnostics) == 1
    with pytest.raises(attune.CompileError, match="<source>:1:1: error: "):
        attune.parse("nonsense")
    with pytest.raises(TypeError, match="expects the source of a module as str or bytes, but got int"):
        attune.parse(3)


def test_errors_are_values_and_pickle():
    with pytest.raises(ValueError) as caught:
        attune.parse("nonsense")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.diagnostics == caught.value.diagnostics
    assert str(_compiler.CompileError(())) == "compilation failed"


def test_diagnostics_of_several_lines():
    said = "a.mlir:3:4: error: first\n  more of it\nnote: second\n"
    first, second = _compiler.parse_diagnostics(said)
    assert (first.text, first.line, first.column) == ("first\n  more of it", 3, 4)
    assert (second.severity, second.file) == ("note", None)
    assert _compiler.parse_diagnostics("odd")[0] == attune.Diagnostic("error", "odd")


def test_run_pipeline(module_text):
    module = attune.parse(module_text)
    expanded = attune.run_pipeline(module, "builtin.module(func.func(attn-expand-short-forms))")
    assert "causal(" not in str(expanded) and "mask" in str(expanded)
    # What was given stays as it is.
    assert "causal(" in str(module)
    # Upstream's passes, and text.
    assert "func.func" not in str(attune.run_pipeline("func.func private @f()", "builtin.module(symbol-dce)"))


def test_run_pipeline_errors(module_text, nvidia):
    with pytest.raises(attune.CompileError, match="no-such-pass"):
        attune.run_pipeline(module_text, "builtin.module(no-such-pass)")
    with pytest.raises(attune.CompileError, match="<source>:3:8: error: .*rows-per-warp"):
        text = module_text.replace("causal(top_left)", "schedule(<blockM = 16>)")
        attune.run_pipeline(text, f"builtin.module(attune-compile{{chip={nvidia} format=tile}})")


def test_compile_assembly(module_text, nvidia):
    compiled = attune.compile(module_text, chip=nvidia, format="isa")
    (kernel,) = compiled.kernels
    assert (kernel.name, kernel.is_assembly) == ("attention_kernel", True)
    assert b".visible .entry attention_kernel(" in kernel.image
    assert kernel.manifest["chip"] == nvidia and kernel.manifest["arguments"][0]["name"] == "query"
    assert compiled.sequences == () and compiled.diagnostics == ()


def test_compile_object_and_bytecode(module_text, amd):
    bytecode = attune.parse(module_text).bytecode()
    (kernel,) = attune.compile(bytecode, chip=amd).kernels
    assert kernel.image.startswith(b"\x7fELF") and not kernel.is_assembly
    (kernel,) = attune.compile(bytecode, chip=amd, format="llvm").kernels
    assert kernel.image.startswith(b"ML\xefR")


def test_compile_sequence(nvidia):
    """Kernels that follow each other in a function are a sequence."""
    tensor = "tensor<1x2x64x64xf16>"
    text = f"""func.func @two(%q: {tensor}) -> {tensor} {{
  %o = attn.attention %q, %q, %q : {tensor}, {tensor}, {tensor}
  %p = attn.attention %o, %o, %o : {tensor}, {tensor}, {tensor}
  return %p : {tensor}
}}"""
    compiled = attune.compile(text, chip=nvidia, format="isa")
    assert len(compiled.kernels) == 2
    assert [len(sequence["kernels"]) for sequence in compiled.sequences] in ([], [2])


def test_compile_errors(module_text, nvidia):
    with pytest.raises(attune.CompileError, match="expects a known chip .*, but got 'moon'"):
        attune.compile(module_text, chip="moon")
    with pytest.raises(ValueError, match="expects the format to be one of bin, isa, llvm, but got 'elf'"):
        attune.compile(module_text, chip=nvidia, format="elf")
    with pytest.raises(ValueError, match="expects sms to be at least 0, but got -1"):
        attune.compile(module_text, chip=nvidia, sms=-1)
    with pytest.raises(TypeError, match="expects tuning_specs to be a sequence of paths, but got str"):
        attune.compile(module_text, chip=nvidia, tuning_specs="spec.mlir")
    with pytest.raises(attune.CompileError, match=r"no-such-file\.mlir"):
        attune.compile(module_text, chip=nvidia, tuning_specs=[pathlib.Path("no-such-file.mlir")])


def test_compile_tuning_spec(module_text, nvidia, tmp_path):
    """A file with another schedule makes another kernel."""
    plain = attune.compile(module_text, chip=nvidia, format="isa").kernels[0]
    spec = tmp_path / "spec.mlir"
    given = module_text.replace(" : ", " schedule(<blockM = 32, blockN = 32, numWarps = 2>) : ", 1)
    assert given != module_text
    spec.write_text(f'module attributes {{attune.tuned_for = "{nvidia}"}} {{\n{given}\n}}')
    tuned = attune.compile(module_text, chip=nvidia, format="isa", tuning_specs=[spec]).kernels[0]
    assert tuned.image != plain.image


def test_threads(module_text, nvidia, cache_folder):
    results = []

    def work():
        results.append(attune.compile(module_text, chip=nvidia, format="isa", cached=False).kernels[0].image)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len(set(results)) == 1
