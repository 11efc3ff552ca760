// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is not modelled is refused where it stands, all of it at once.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(convert-kernel-to-host))'

gpu.module @several {
  llvm.func @kernel(%p: !llvm.ptr, %x: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @below {{'nvvm.cluster.arrive' op expects a barrier of the cluster that is not aligned to be executed on the host}}
    nvvm.cluster.arrive {aligned}
    // expected-error @below {{'nvvm.cluster.wait' op expects a barrier of the cluster that is not aligned to be executed on the host}}
    nvvm.cluster.wait {aligned}
    // expected-error @below {{expects an op that the host executor models, but got 'nvvm.read.ptx.sreg.clusterid.y'}}
    %2 = nvvm.read.ptx.sreg.clusterid.y : i32
    // expected-error @below {{expects an op that the host executor models, but got 'llvm.inline_asm'}}
    llvm.inline_asm has_side_effects "exit;", "" : () -> ()
    // expected-error @below {{expects an op that the host executor models, but got 'llvm.nvvm.isspacep.shared'}}
    %0 = llvm.call_intrinsic "llvm.nvvm.isspacep.shared"(%p) : (!llvm.ptr) -> i1
    // expected-error @below {{expects an op that the host executor models, but got 'llvm.call of a function without a body'}}
    llvm.call @vprintf(%p) : (!llvm.ptr) -> ()
    // expected-error @below {{expects an op that the host executor models, but got 'arith.addi'}}
    %1 = arith.addi %x, %x : i32
    llvm.return
  }
  llvm.func @vprintf(!llvm.ptr)
}

// -----

gpu.module @float8 {
  llvm.func @kernel(%a: vector<2xi8>) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @below {{'nvvm.convert.f8x2.to.f16x2' op expects a conversion of f8E4M3FN or f8E5M2 without relu to be executed on the host}}
    %0 = nvvm.convert.f8x2.to.f16x2 %a {relu = true} : vector<2xi8>(f8E5M2) -> vector<2xf16>
    llvm.return
  }
}

// -----

gpu.module @to_float8 {
  llvm.func @kernel(%a: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @below {{'nvvm.convert.f32x2.to.f8x2' op expects a conversion to f8E4M3FN or f8E5M2 that rounds to nearest and saturates to be executed on the host}}
    %0 = nvvm.convert.f32x2.to.f8x2 %a, %a {relu = true, rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16 (f8E5M2)
    llvm.return
  }
}

// -----

gpu.module @mma {
  llvm.func @kernel(%a: vector<2xf16>) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @below {{'nvvm.mma.sync' op expects m16n8k16 or m16n8k8 of f16 or bf16 with f32 results to be executed on the host}}
    %0 = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%a, %a]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
    llvm.return
  }
}

// -----

gpu.module @modifiers {
  llvm.func @kernel(%a: vector<4xf16>, %c: vector<16xf32>) attributes {gpu.kernel, rocdl.kernel} {
    %none = llvm.mlir.constant(0 : i32) : i32
    %some = llvm.mlir.constant(1 : i32) : i32
    // expected-error @below {{'rocdl.mfma.f32.32x32x8f16' op expects modifiers of 0 to be executed on the host}}
    %0 = rocdl.mfma.f32.32x32x8f16 %a, %a, %c, %none, %some, %none
      : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
    llvm.return
  }
}

// -----

gpu.module @boxes {
  llvm.func @kernel(%map: !llvm.ptr, %to: !llvm.ptr<7>, %barrier: !llvm.ptr<3>, %x: i32, %mask: i16)
      attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @below {{'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a copy without a group of workgroups to be executed on the host}}
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %barrier, box[%x, %x]
      {group = #nvvm.cta_group<cta_1>} : !llvm.ptr<7>, !llvm.ptr
    // expected-error @below {{'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects the mode 'tile' to be executed on the host, but got 'im2col'}}
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %barrier, box[%x, %x, %x] im2col[%mask]
      {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr
    // expected-error @below {{'nvvm.cp.async.bulk.tensor.global.shared.cta' op expects the mode 'tile' to be executed on the host, but got 'im2col'}}
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %barrier, box[%x, %x, %x] {mode = #nvvm.tma_store_mode<im2col>}
      : !llvm.ptr, !llvm.ptr<3>
    llvm.return
  }
}
