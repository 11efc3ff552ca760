// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search over HIP, with a driver that computes attention with one key. Its
// database is all that another machine needs to replay it: as input it is the
// problem.
//
// REQUIRES: attune-tune
// DEFINE: %{hip} = env LD_LIBRARY_PATH=%fake_hip TMPDIR=%t
// RUN: rm -rf %t && mkdir %t
// RUN: %{hip} attune-tune %s --device=hip --budget=3 --finalists=1 --final-rounds=1 --db=%t/sent.db -o %t/tuned.mlir --quiet \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=TUNED < %t/tuned.mlir
// CHECK: attention on gfx942: 3 of {{[0-9]+}} legal schedules tried
// CHECK: 1 {{.*}} 2000.0..2000.0 {{.*}}1.00x
// CHECK: best: block-m=
// TUNED: // attention: 2000.0 us on Fake Instinct (gfx942, driver 60342131)
//
// RUN: attune-tune --status --db=%t/sent.db | FileCheck %s --check-prefix=STATUS
// STATUS: session 1: attention on gfx942, device Fake Instinct (gfx942, driver 60342131), 304 SMs, 65536 bytes of shared memory
// STATUS: results for {{[0-9]+}} legal schedules: ok
//
// RUN: attune-tune %t/sent.db --device=none --chip=gfx942 --strategy=replay --replay=%t/sent.db --quiet 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPLAY
// REPLAY: attention on gfx942: 3 of {{[0-9]+}} legal schedules tried
// REPLAY: best by model:
// RUN: %{hip} attune-tune %t/sent.db --budget=0 --db=%t/sent.db --quiet | FileCheck %s --check-prefix=STORED
// STORED: {{([1-3]) of [0-9]+ legal schedules tried in .*, [1-3]}} of them from the database
//
// A chip that this device does not run.
// RUN: env LD_LIBRARY_PATH=%fake_hip not attune-tune %s --chip=gfx90a --device=hip 2>&1 | FileCheck %s --check-prefix=MISMATCH
// MISMATCH: attune-tune: error: the device here is 'Fake Instinct' (gfx942), which does not run code for 'gfx90a'

!query = tensor<1x2x32x64xbf16>
!key = tensor<1x2x1x64xbf16>

func.func @attention(%q: !query, %k: !key, %v: !key) -> !query {
  %o = attn.attention %q, %k, %v : !query, !key, !key
  return %o : !query
}
