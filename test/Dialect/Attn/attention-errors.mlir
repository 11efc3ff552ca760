// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One case for each rule of the verifier, named by the id of the rule.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @attention_c1_order(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects order to be a permutation of the letters b, h, s and d, but got 'bhss'}}
  %o = attn.attention %q, %q, %q order(bhss) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

// Nothing infers types here, so the verifier has to know the rule as well.
func.func @attention_c1_order_in_generic_form(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects order to be a permutation of the letters b, h, s and d, but got 'causal'}}
  %o = "attn.attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, order = "causal"}> ({}, {})
    : (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @rank(%q: tensor<1x2x8x16xf16>, %k: tensor<2x8x16xf16>) {
  // expected-error @below {{expects key to be a tensor of rank 4, but got 'tensor<2x8x16xf16>'}}
  %o = attn.attention %q, %k, %q : tensor<1x2x8x16xf16>, tensor<2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @element_type(%q: tensor<1x2x8x16xf64>) {
  // expected-error @below {{operand #0 must be 4D tensor of 16-bit float or bfloat16 type or 32-bit float or f8E4M3FN type or f8E5M2 type or f8E4M3FNUZ type or f8E5M2FNUZ type values, but got 'tensor<1x2x8x16xf64>'}}
  %o = attn.attention %q, %q, %q : tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64>
  return
}

// -----

func.func @attention_c3_batch(%q: tensor<3x2x8x16xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects query and key to have one batch size, but got 3 and 1}}
  %o = attn.attention %q, %k, %k : tensor<3x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c3_batch_of_dynamic_query(%q: tensor<?x2x8x16xf16>, %k: tensor<4x2x8x16xf16>,
                                               %v: tensor<5x2x8x16xf16>) {
  // expected-error @below {{expects key and value to have one batch size, but got 4 and 5}}
  %o = attn.attention %q, %k, %v : tensor<?x2x8x16xf16>, tensor<4x2x8x16xf16>, tensor<5x2x8x16xf16>
  return
}

// -----

func.func @attention_c4_heads(%q: tensor<1x8x4x16xf16>, %k: tensor<1x4x4x16xf16>, %v: tensor<1x2x4x16xf16>) {
  // expected-error @below {{expects key and value to have one number of heads, but got 4 and 2}}
  %o = attn.attention %q, %k, %v : tensor<1x8x4x16xf16>, tensor<1x4x4x16xf16>, tensor<1x2x4x16xf16>
  return
}

// -----

func.func @attention_c5_length(%q: tensor<1x4x2x16xf16>, %v: tensor<1x5x2x16xf16>) {
  // expected-error @below {{expects key and value to have one length, but got 4 and 5}}
  %o = attn.attention %q, %q, %v order(bshd)
    : tensor<1x4x2x16xf16>, tensor<1x4x2x16xf16>, tensor<1x5x2x16xf16>
  return
}

// -----

func.func @attention_c6_head_size(%q: tensor<1x2x8x64xf16>, %k: tensor<1x2x8x32xf16>) {
  // expected-error @below {{expects query and key to have one head size, but got 64 and 32}}
  %o = attn.attention %q, %k, %k : tensor<1x2x8x64xf16>, tensor<1x2x8x32xf16>, tensor<1x2x8x32xf16>
  return
}

// -----

func.func @attention_c7_groups(%q: tensor<1x7x8x16xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects the heads of query to be a multiple of those of key, but got 7 and 2}}
  %o = attn.attention %q, %k, %k : tensor<1x7x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c7_no_key_heads(%q: tensor<1x7x8x16xf16>, %k: tensor<1x0x8x16xf16>) {
  // expected-error @below {{expects the heads of query to be a multiple of those of key, but got 7 and 0}}
  %o = attn.attention %q, %k, %k : tensor<1x7x8x16xf16>, tensor<1x0x8x16xf16>, tensor<1x0x8x16xf16>
  return
}

// -----

func.func @attention_c8_dynamic_head_size(%q: tensor<1x2x8x?xf16>, %k: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects the head size of query to be static, but got `?`}}
  %o = attn.attention %q, %k, %k : tensor<1x2x8x?xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c8_no_head_size(%q: tensor<1x2x8x16xf16>, %v: tensor<1x2x8x0xf16>) {
  // expected-error @below {{expects the head size of value to be at least 1, but got 0}}
  %o = attn.attention %q, %q, %v : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x0xf16>
  return
}

// -----

func.func @attention_c9_size(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x2147483648x16xf16>) {
  // expected-error @below {{expects sizes of key of at most 2147483647, but got 2147483648}}
  %o = attn.attention %q, %k, %k : tensor<1x2x8x16xf16>, tensor<1x2x2147483648x16xf16>, tensor<1x2x2147483648x16xf16>
  return
}

// -----

!huge = tensor<2147483647x2147483647x2x1xf16>
func.func @attention_c9_bytes(%q: !huge) {
  // expected-error @below {{expects tensors of at most 9223372036854775807 bytes, but got 'tensor<2147483647x2147483647x2x1xf16>'}}
  %o = attn.attention %q, %q, %q : !huge, !huge, !huge
  return
}

// -----

// Each operand fits, the result does not.
func.func @attention_c9_bytes_of_result(%q: tensor<1x4x2147483647x1xf16>, %k: tensor<1x4x1x1xf16>,
                                        %v: tensor<1x4x1x2147483647xf16>) {
  // expected-error @below {{expects tensors of at most 9223372036854775807 bytes, but got 'tensor<1x4x2147483647x2147483647xf16>'}}
  %o = attn.attention %q, %k, %v
    : tensor<1x4x2147483647x1xf16>, tensor<1x4x1x1xf16>, tensor<1x4x1x2147483647xf16>
  return
}

// -----

func.func @attention_c10_alibi(%q: tensor<1x2x8x16xf16>, %slopes: tensor<3xf32>) {
  // expected-error @below {{expects alibi slopes to have one element per head of query, but got 3 for 2 heads}}
  %o = attn.attention %q, %q, %q alibi(%slopes : tensor<3xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c11_sinks(%q: tensor<1x2x8x16xf16>, %sinks: tensor<1xf32>) {
  // expected-error @below {{expects sinks to have one element per head of query, but got 1 for 2 heads}}
  %o = attn.attention %q, %q, %q sinks(%sinks : tensor<1xf32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c12_scale(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects scale to be finite, but got 0x7F800000}}
  %o = attn.attention %q, %q, %q scale(0x7F800000)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c13_softcap(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects softcap to be finite and positive, but got 0.000000e+00}}
  %o = attn.attention %q, %q, %q softcap(0.0) : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c18_encoding(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf16, "compressed">) {
  // expected-error @below {{expects tensors without an encoding or with #attn.strided, but got "compressed"}}
  %o = attn.attention %q, %k, %q
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16, "compressed">, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c19_unknown(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects results with known strides, but got 'tensor<1x2x8x16xf16, #attn.strided<[?, 128, 16, 1]>>'}}
  %o = attn.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
    -> tensor<1x2x8x16xf16, #attn.strided<[?, 128, 16, 1]>>
  return
}

// -----

func.func @attention_c19_overlap(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects results whose elements do not overlap, but got 'tensor<1x2x8x16xf16, #attn.strided<[256, 127, 16, 1]>>'}}
  %o = attn.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
    -> tensor<1x2x8x16xf16, #attn.strided<[256, 127, 16, 1]>>
  return
}

// -----

func.func @attention_c19_span(%q: tensor<2x2x8x16xf16>) {
  // expected-error @below {{expects strides of results within 63 bits, but got}}
  %o = attn.attention %q, %q, %q : tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>
    -> tensor<2x2x8x16xf16, #attn.strided<[9223372036854775807, 128, 16, 1]>>
  return
}

// -----

func.func @result_type(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{inferred type(s) 'tensor<1x2x8x16xf16>' are incompatible with return type(s) of operation 'tensor<1x2x8x17xf16>'}}
  %o = attn.attention %q, %q, %q : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
    -> tensor<1x2x8x17xf16>
  return
}

// -----

func.func @attention_c21_one_size(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x3xi32>) {
  // expected-error @below {{expects two sizes of blocks, of queries and of keys, but got 1}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c21_size(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x3xi32>) {
  // expected-error @below {{expects sizes of blocks from 1 to 2147483647, but got 0}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 0] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c21_full_alone(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x3xi32>) {
  // expected-error @below {{expects counts and indices of full blocks together, beside those of other blocks}}
  %o = attn.attention %q, %q, %q full_blocks(%c, %i : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c21_without_sizes(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x3xi32>) {
  // expected-error @below {{expects counts, indices and sizes of blocks together, but got only some of them}}
  %o = "attn.attention"(%q, %q, %q, %c, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, order = "bhsd"}> ({}, {})
    : (tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x1x4xi32>, tensor<2x1x4x3xi32>) -> tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c22_batch(%q: tensor<2x4x64x16xf16>, %c: tensor<3x1x4xi32>, %i: tensor<2x1x4x3xi32>) {
  // expected-error @below {{expects counts of blocks to have 1 or 2 batches, but got 3}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 32] : tensor<3x1x4xi32>, tensor<2x1x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c22_heads(%q: tensor<2x4x64x16xf16>, %c: tensor<2x4x4xi32>, %i: tensor<2x2x4x3xi32>) {
  // expected-error @below {{expects indices of blocks to have 1 or 4 heads, but got 2}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 32] : tensor<2x4x4xi32>, tensor<2x2x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c22_queries(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x3xi32>) {
  // expected-error @below {{expects counts of blocks to have 2 blocks of 32 queries, but got 4}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [32, 32] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c22_full_queries(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x3xi32>, %fc: tensor<2x1x4xi32>, %fi: tensor<2x1x5x3xi32>) {
  // expected-error @below {{expects indices of full blocks to have 4 blocks of 16 queries, but got 5}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 32] : tensor<2x1x4xi32>, tensor<2x1x4x3xi32>) full_blocks(%fc, %fi : tensor<2x1x4xi32>, tensor<2x1x5x3xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c22_room(%q: tensor<2x4x64x16xf16>, %c: tensor<2x1x4xi32>, %i: tensor<2x1x4x0xi32>) {
  // expected-error @below {{expects indices of blocks to have room for at least 1 block, but got 0}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 32] : tensor<2x1x4xi32>, tensor<2x1x4x0xi32>)
    : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// -----

func.func @attention_c23_query_lengths(%q: tensor<2x2x8x16xf16>, %lengths: tensor<3xi32>) {
  // expected-error @below {{expects query lengths to have one element per batch, but got 3 for 2 batches}}
  %o = attn.attention %q, %q, %q query_lengths(%lengths : tensor<3xi32>)
    : tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>
  return
}

// -----

func.func @attention_c23_key_lengths(%q: tensor<?x2x8x16xf16>, %k: tensor<4x2x8x16xf16>, %lengths: tensor<1xi32>) {
  // expected-error @below {{expects key lengths to have one element per batch, but got 1 for 4 batches}}
  %o = attn.attention %q, %k, %k key_lengths(%lengths : tensor<1xi32>)
    : tensor<?x2x8x16xf16>, tensor<4x2x8x16xf16>, tensor<4x2x8x16xf16>
  return
}

// -----

func.func @attention_c24_batch(%q: tensor<4x2x8x16xf16>, %k: tensor<9x2x8x16xf16>, %pages: tensor<3x2xi32>) {
  // expected-error @below {{expects pages to have one row per batch, but got 3 for 4 batches}}
  %o = attn.attention %q, %k, %k pages(%pages : tensor<3x2xi32>)
    : tensor<4x2x8x16xf16>, tensor<9x2x8x16xf16>, tensor<9x2x8x16xf16>
  return
}

// -----

func.func @attention_c24_pools(%q: tensor<4x2x8x16xf16>, %k: tensor<9x2x8x16xf16>, %v: tensor<8x2x8x16xf16>,
                               %pages: tensor<4x2xi32>) {
  // expected-error @below {{expects key and value to have one number of pages, but got 9 and 8}}
  %o = attn.attention %q, %k, %v pages(%pages : tensor<4x2xi32>)
    : tensor<4x2x8x16xf16>, tensor<9x2x8x16xf16>, tensor<8x2x8x16xf16>
  return
}

// -----

func.func @attention_c24_dynamic_page(%q: tensor<4x2x8x16xf16>, %k: tensor<9x2x?x16xf16>, %pages: tensor<4x2xi32>) {
  // expected-error @below {{expects the keys of a page of key to be of a static number, but got `?`}}
  %o = attn.attention %q, %k, %k pages(%pages : tensor<4x2xi32>)
    : tensor<4x2x8x16xf16>, tensor<9x2x?x16xf16>, tensor<9x2x?x16xf16>
  return
}

// -----

func.func @attention_c24_empty_page(%q: tensor<4x2x8x16xf16>, %k: tensor<9x2x0x16xf16>, %pages: tensor<4x2xi32>) {
  // expected-error @below {{expects the pages of key to have at least 1 key, but got 0}}
  %o = attn.attention %q, %k, %k pages(%pages : tensor<4x2xi32>)
    : tensor<4x2x8x16xf16>, tensor<9x2x0x16xf16>, tensor<9x2x0x16xf16>
  return
}

// -----

func.func @attention_c24_many_keys(%q: tensor<1x2x8x16xf16>, %k: tensor<9x2x1024x16xf16>, %pages: tensor<1x2097152xi32>) {
  // expected-error @below {{expects the pages of a batch to have at most 2147483647 keys, but got 2147483648}}
  %o = attn.attention %q, %k, %k pages(%pages : tensor<1x2097152xi32>)
    : tensor<1x2x8x16xf16>, tensor<9x2x1024x16xf16>, tensor<9x2x1024x16xf16>
  return
}

// -----

func.func @rank_of_pages(%q: tensor<2x2x8x16xf16>, %pages: tensor<2xi32>) {
  // expected-error @below {{expects pages to be a tensor of rank 2, but got 'tensor<2xi32>'}}
  %o = attn.attention %q, %q, %q pages(%pages : tensor<2xi32>)
    : tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>
  return
}

// -----

func.func @type_of_lengths(%q: tensor<2x2x8x16xf16>, %lengths: tensor<2xi64>) {
  // expected-error @below {{operand #3 must be 1D tensor of 32-bit signless integer values, but got 'tensor<2xi64>'}}
  %o = attn.attention %q, %q, %q key_lengths(%lengths : tensor<2xi64>)
    : tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_elements(%q: tensor<1x2x8x16xf16>, %k: tensor<1x2x8x16xf16>, %starts: tensor<4xi32>, %short: tensor<3xi32>) {
  // expected-error @below {{expects key starts to have one element more than batches, but got 3 for 3 batches}}
  %o = attn.attention %q, %k, %k query_starts(%starts : tensor<4xi32>) key_starts(%short : tensor<3xi32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_keys(%q: tensor<1x2x8x16xf16>, %k: tensor<4x2x8x16xf16>, %starts: tensor<4xi32>) {
  // expected-error @below {{expects key and starts to have one batch size, but got 4 and 3}}
  %o = attn.attention %q, %k, %k query_starts(%starts : tensor<4xi32>)
    : tensor<1x2x8x16xf16>, tensor<4x2x8x16xf16>, tensor<4x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_queries(%q: tensor<2x2x8x16xf16>, %k: tensor<1x2x8x16xf16>, %starts: tensor<4xi32>) {
  // expected-error @below {{expects key starts to have one element more than batches, but got 4 for 2 batches}}
  %o = attn.attention %q, %k, %k key_starts(%starts : tensor<4xi32>)
    : tensor<2x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_empty(%q: tensor<1x2x8x16xf16>, %starts: tensor<1xi32>) {
  // expected-error @below {{expects query starts to have at least 2 elements, but got 1}}
  %o = attn.attention %q, %q, %q query_starts(%starts : tensor<1xi32>) key_starts(%starts : tensor<1xi32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_batches(%q: tensor<3x2x8x16xf16>, %starts: tensor<4xi32>) {
  // expected-error @below {{expects query to have 1 batch beside query starts, but got 3}}
  %o = attn.attention %q, %q, %q query_starts(%starts : tensor<4xi32>)
    : tensor<3x2x8x16xf16>, tensor<3x2x8x16xf16>, tensor<3x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_dynamic_batches(%q: tensor<1x2x8x16xf16>, %k: tensor<?x2x8x16xf16>, %starts: tensor<4xi32>) {
  // expected-error @below {{expects key to have 1 batch beside key starts, but got `?`}}
  %o = attn.attention %q, %k, %k query_starts(%starts : tensor<4xi32>) key_starts(%starts : tensor<4xi32>)
    : tensor<1x2x8x16xf16>, tensor<?x2x8x16xf16>, tensor<?x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_pages(%q: tensor<3x2x8x16xf16>, %k: tensor<1x2x8x16xf16>, %starts: tensor<4xi32>, %pages: tensor<3x1xi32>) {
  // expected-error @below {{expects pages or key starts, but got both}}
  %o = attn.attention %q, %k, %k key_starts(%starts : tensor<4xi32>) pages(%pages : tensor<3x1xi32>)
    : tensor<3x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c25_lists(%q: tensor<1x2x8x16xf16>, %starts: tensor<4xi32>, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x1xi32>) {
  // expected-error @below {{expects query starts or lists of blocks, but got both}}
  %o = attn.attention %q, %q, %q query_starts(%starts : tensor<4xi32>) key_starts(%starts : tensor<4xi32>)
    blocks(%c, %i, [8, 8] : tensor<1x1x1xi32>, tensor<1x1x1x1xi32>)
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}
