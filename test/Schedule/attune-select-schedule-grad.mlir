// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is picked for gradients: the fused form where one kernel fits the registers, and for each kernel the largest blocks that
// do.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=GROUPS
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-select-schedule="sizes=seq-q=1024,seq-k=1024" | FileCheck %s --check-prefix=SHORT
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=WARPS
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=WAVES

// GROUPS-LABEL: func.func @head_64
// GROUPS: schedule(<form = fused, kvBlockM = 128, kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, mmaWarps = 4, producerWarps = 4, strengthReduction = 1, assembler = plain>)
// WARPS-LABEL: func.func @head_64
// WARPS: schedule(<kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, qBlockM = 128, qWarps = 8>)
// WAVES-LABEL: func.func @head_64
// WAVES: schedule(<kvBlockN = 128, qBlockM = 128>)
func.func @head_64(%q: tensor<1x1x256x64xbf16>, %lse: tensor<1x1x256xf32>) -> tensor<1x1x256x64xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x64xbf16>
  return %g : tensor<1x1x256x64xbf16>
}

// How the kernel is assembled hangs on its mask, and on whether lengths are known.
// GROUPS-LABEL: func.func @assembled_masked
// GROUPS: schedule(<form = fused, {{.*}}strengthReduction = 1, assembler = sparing>)
// GROUPS-LABEL: func.func @assembled_dynamic
// GROUPS: schedule(<form = fused, {{.*}}strengthReduction = 1>)
!rows = tensor<1x8x1024x64xbf16>
func.func @assembled_masked(%q: !rows, %lse: tensor<1x8x1024xf32>) -> !rows {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q causal(bottom_right) wrt(query) : !rows, !rows, !rows, !rows, tensor<1x8x1024xf32>, !rows
  return %g : !rows
}
!some = tensor<1x8x?x64xbf16>
func.func @assembled_dynamic(%q: !some, %lse: tensor<1x8x?xf32>) -> !some {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(query) : !some, !some, !some, !some, tensor<1x8x?xf32>, !some
  return %g : !some
}

// Equal bits in each launch are a sum in an order.
// GROUPS-LABEL: func.func @deterministic
// GROUPS: attn.attention_grad {{.*}} deterministic wrt
// GROUPS-SAME: schedule(<form = ordered, kvBlockM = 128, kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, mmaWarps = 4, producerWarps = 4, strengthReduction = 1, assembler = plain>)
// WARPS-LABEL: func.func @deterministic
// WAVES-LABEL: func.func @deterministic
func.func @deterministic(%q: tensor<1x1x256x64xbf16>, %lse: tensor<1x1x256xf32>) -> tensor<1x1x256x64xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x64xbf16>
  return %g : tensor<1x1x256x64xbf16>
}

// Where nobody can tell whose turn it is, sums have a kernel of their own.
// GROUPS-LABEL: func.func @deterministic_documents
// GROUPS: schedule(<kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, qBlockM = 128, qBlockN = 128, qWarps = 8, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
func.func @deterministic_documents(%q: tensor<1x1x256x64xbf16>, %lse: tensor<1x1x256xf32>, %of: tensor<256xi32>) -> tensor<1x1x256x64xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key)
    mask (%b, %h, %m, %n) {
      %i = tensor.extract %of[%m] : tensor<256xi32>
      %j = tensor.extract %of[%n] : tensor<256xi32>
      %same = arith.cmpi eq, %i, %j : i32
      attn.yield %same : i1
    } : tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256x64xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x64xbf16>
  return %g : tensor<1x1x256x64xbf16>
}

// Large heads of few positions are no sum in an order, which is slower there: where sizes are given, of those that are dynamic as well.
// GROUPS-LABEL: func.func @deterministic_short
// GROUPS: schedule(<kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, qBlockM = 128, qWarps = 8, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
// GROUPS-LABEL: func.func @deterministic_long
// GROUPS: schedule(<form = ordered,
// GROUPS-LABEL: func.func @deterministic_dynamic
// GROUPS: schedule(<form = ordered,
// SHORT-LABEL: func.func @deterministic_long
// SHORT: schedule(<form = ordered,
// SHORT-LABEL: func.func @deterministic_dynamic
// SHORT: schedule(<kvBlockN = 128,
// SHORT-LABEL: func.func @deterministic_packed
// SHORT: schedule(<kvBlockN = 128,
!short = tensor<1x1x1024x128xbf16>
!long = tensor<1x1x2048x128xbf16>
!any = tensor<1x1x?x128xbf16>
func.func @deterministic_short(%q: !short, %lse: tensor<1x1x1024xf32>) -> !short {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) : !short, !short, !short, !short, tensor<1x1x1024xf32>, !short
  return %g : !short
}
func.func @deterministic_long(%q: !short, %k: !long, %lse: tensor<1x1x1024xf32>) -> !long {
  %g = attn.attention_grad %q, %k, %k, %q, %lse, %q deterministic wrt(key) : !short, !long, !long, !short, tensor<1x1x1024xf32>, !short
  return %g : !long
}
func.func @deterministic_dynamic(%q: !any, %lse: tensor<1x1x?xf32>) -> !any {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) : !any, !any, !any, !any, tensor<1x1x?xf32>, !any
  return %g : !any
}

// Nor are sequences of any lengths, but where it is asked for.
// GROUPS-LABEL: func.func @deterministic_packed
// GROUPS: schedule(<kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, qBlockM = 128, qWarps = 8, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
// GROUPS-LABEL: func.func @deterministic_lengths
// GROUPS: schedule(<kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, qBlockM = 128, qWarps = 8, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
func.func @deterministic_packed(%q: !any, %lse: tensor<1x1x?xf32>, %starts: tensor<?xi32>) -> !any {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) query_starts(%starts : tensor<?xi32>) key_starts(%starts : tensor<?xi32>)
    : !any, !any, !any, !any, tensor<1x1x?xf32>, !any
  return %g : !any
}
func.func @deterministic_lengths(%q: !short, %lse: tensor<1x1x1024xf32>, %lengths: tensor<1xi32>) -> !short {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) key_lengths(%lengths : tensor<1xi32>)
    : !short, !short, !short, !short, tensor<1x1x1024xf32>, !short
  return %g : !short
}

// GROUPS-LABEL: func.func @head_128
// GROUPS: schedule(<form = fused, kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, mmaWarps = 4, producerWarps = 4, assembler = plain>)
// WARPS-LABEL: func.func @head_128
// WARPS: schedule(<kvBlockM = 32, kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, qBlockM = 128, qWarps = 8, qInRegisters = 0>)
// WAVES-LABEL: func.func @head_128
// WAVES: schedule(<kvBlockN = 128, kvStages = 1, qBlockM = 128, qStages = 1>)
func.func @head_128(%q: tensor<1x1x256x128xbf16>, %lse: tensor<1x1x256xf32>) -> tensor<1x1x256x128xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x128xbf16>
  return %g : tensor<1x1x256x128xbf16>
}

// Rows that no copy engine takes are multiplied by single warps.
// GROUPS-LABEL: func.func @odd_rows
// GROUPS: schedule(<kvBlockN = 128, kvWarps = 8, qBlockM = 128, qWarps = 8>)
// WARPS-LABEL: func.func @odd_rows
// WARPS: schedule(<kvBlockN = 128, kvWarps = 8, qBlockM = 128, qWarps = 8>)
// WAVES-LABEL: func.func @odd_rows
// WAVES: schedule(<kvBlockN = 128, qBlockM = 128>)
func.func @odd_rows(%q: tensor<1x1x256x36xbf16>, %lse: tensor<1x1x256xf32>) -> tensor<1x1x256x36xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : tensor<1x1x256x36xbf16>, tensor<1x1x256x36xbf16>, tensor<1x1x256x36xbf16>, tensor<1x1x256x36xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x36xbf16>
  return %g : tensor<1x1x256x36xbf16>
}

// GROUPS-LABEL: func.func @head_192
// GROUPS: schedule(<kvBlockM = 16, kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, qBlockM = 128, qWarps = 8, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
func.func @head_192(%q: tensor<1x1x256x192xbf16>, %lse: tensor<1x1x256xf32>) -> tensor<1x1x256x192xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : tensor<1x1x256x192xbf16>, tensor<1x1x256x192xbf16>, tensor<1x1x256x192xbf16>, tensor<1x1x256x192xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x192xbf16>
  return %g : tensor<1x1x256x192xbf16>
}

// Two groups share the columns of sums of keys and of values that one has no registers for. By warps, which cannot, they have a kernel each.
// GROUPS-LABEL: func.func @head_256
// GROUPS: schedule(<form = fused, kvWarps = 8, kvInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
// WARPS-LABEL: func.func @head_256
// WARPS: schedule(<form = apart,
// WAVES-LABEL: func.func @head_256
// WAVES: schedule(<form = apart,
func.func @head_256(%q: tensor<1x1x256x256xbf16>, %lse: tensor<1x1x256xf32>) -> tensor<1x1x256x256xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) : tensor<1x1x256x256xbf16>, tensor<1x1x256x256xbf16>, tensor<1x1x256x256xbf16>, tensor<1x1x256x256xbf16>, tensor<1x1x256xf32>, tensor<1x1x256x256xbf16>
  return %g : tensor<1x1x256x256xbf16>
}

// TMA boxes need not end with a batch.
// GROUPS-LABEL: func.func @packed
// GROUPS: schedule(<form = fused, kvBlockN = 128, kvWarps = 8, kvInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
// Between these, rows may hold anything.
// GROUPS-LABEL: func.func @packed_with_gaps
// GROUPS: attn.attention_grad
// GROUPS-NOT: mmaWarps
func.func @packed(%q: tensor<1x?x1x128xbf16>, %lse: tensor<1x1x?xf32>, %starts: tensor<?xi32>) -> tensor<1x?x1x128xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) order(bshd) query_starts(%starts : tensor<?xi32>) key_starts(%starts : tensor<?xi32>) : tensor<1x?x1x128xbf16>, tensor<1x?x1x128xbf16>, tensor<1x?x1x128xbf16>, tensor<1x?x1x128xbf16>, tensor<1x1x?xf32>, tensor<1x?x1x128xbf16>
  return %g : tensor<1x?x1x128xbf16>
}
func.func @packed_with_gaps(%q: tensor<1x?x1x128xbf16>, %lse: tensor<1x1x?xf32>, %starts: tensor<?xi32>, %lengths: tensor<?xi32>) -> tensor<1x?x1x128xbf16> {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) order(bshd) query_starts(%starts : tensor<?xi32>) key_starts(%starts : tensor<?xi32>) key_lengths(%lengths : tensor<?xi32>) : tensor<1x?x1x128xbf16>, tensor<1x?x1x128xbf16>, tensor<1x?x1x128xbf16>, tensor<1x?x1x128xbf16>, tensor<1x1x?xf32>, tensor<1x?x1x128xbf16>
  return %g : tensor<1x?x1x128xbf16>
}

// Blocks are listed where the mask reads tensors at positions, of more than a few blocks, in no order.
// GROUPS-LABEL: func.func @documents
// GROUPS: schedule(<form = fused, {{.*}}listBlocks = 1, strengthReduction = 1, assembler = sparing>)
// WARPS-LABEL: func.func @documents
// WARPS: schedule(<{{.*}}listBlocks = 1>)
// WAVES-LABEL: func.func @documents
// WAVES: schedule(<{{.*}}listBlocks = 1>)
// GROUPS-LABEL: func.func @documents_in_order
// GROUPS-NOT: form
// GROUPS: listBlocks = 1
// GROUPS-LABEL: func.func @length_of_batch
// GROUPS-NOT: listBlocks
!many = tensor<2x2x512x64xbf16>
!many_lse = tensor<2x2x512xf32>
func.func @documents(%q: !many, %lse: !many_lse, %of: tensor<512xi32>) -> !many {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key)
    mask (%b, %h, %m, %n) {
      %i = tensor.extract %of[%m] : tensor<512xi32>
      %j = tensor.extract %of[%n] : tensor<512xi32>
      %same = arith.cmpi eq, %i, %j : i32
      attn.yield %same : i1
    } : !many, !many, !many, !many, !many_lse, !many
  return %g : !many
}
func.func @documents_in_order(%q: !many, %lse: !many_lse, %of: tensor<512xi32>) -> !many {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key)
    mask (%b, %h, %m, %n) {
      %i = tensor.extract %of[%m] : tensor<512xi32>
      %j = tensor.extract %of[%n] : tensor<512xi32>
      %same = arith.cmpi eq, %i, %j : i32
      attn.yield %same : i1
    } : !many, !many, !many, !many, !many_lse, !many
  return %g : !many
}
func.func @length_of_batch(%q: !many, %lse: !many_lse, %ends: tensor<2xi32>) -> !many {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key)
    mask (%b, %h, %m, %n) {
      %i = tensor.extract %ends[%b] : tensor<2xi32>
      %end = arith.index_cast %i : i32 to index
      %before = arith.cmpi slt, %n, %end : index
      attn.yield %before : i1
    } : !many, !many, !many, !many, !many_lse, !many
  return %g : !many
}
