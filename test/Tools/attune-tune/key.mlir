// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stored result is reused where nothing differs that it depends on, and a file that another version wrote is left as it is.
//
// REQUIRES: attune-tune, ptxas
// RUN: rm -rf %t && mkdir %t
// DEFINE: %{tune} = attune-tune %s --only=block-m=64,block-n=64,num-warps=4,k-stages=2,v-stages=2,exp-on-fma=0,rescale=0,tile-order=ascending,split-k=1 --device=none --budget=1 --finalists=0 --quiet --db=%t/tuning.db
// RUN: %{tune} --chip=sm_90 --size=seq-q=64,seq-k=64 2> /dev/null | FileCheck %s --check-prefix=NEW
// RUN: %{tune} --chip=sm_90 --size=seq-q=64,seq-k=64 2> /dev/null | FileCheck %s --check-prefix=STORED
// NEW: 1 of {{[0-9]+}} legal schedules tried in {{[^,]*$}}
// STORED: 1 of {{[0-9]+}} legal schedules tried in {{.*}}, 1 of them from the database
//
// Another size, chip or assembler.
// RUN: %{tune} --chip=sm_90 --size=seq-q=64,seq-k=128 2> /dev/null | FileCheck %s --check-prefix=NEW
// RUN: %{tune} --chip=sm_80 --size=seq-q=64,seq-k=64 2> /dev/null | FileCheck %s --check-prefix=NEW
// RUN: echo '#!/bin/sh' > %t/ptxas && echo 'exec ptxas "$@"' >> %t/ptxas && chmod +x %t/ptxas
// RUN: %{tune} --chip=sm_90 --size=seq-q=64,seq-k=64 --assembler=%t/ptxas 2> /dev/null | FileCheck %s --check-prefix=NEW
// RUN: %{tune} --chip=sm_90 --size=seq-q=64,seq-k=64 --assembler=%t/ptxas 2> /dev/null | FileCheck %s --check-prefix=STORED
//
// A database from the future.
// RUN: %python -c "import sqlite3; sqlite3.connect('%t/tuning.db').execute('PRAGMA user_version = 99')"
// RUN: cp %t/tuning.db %t/before.db
// RUN: not %{tune} --chip=sm_90 --size=seq-q=64,seq-k=64 -o %t/o.mlir 2>&1 | FileCheck %s --check-prefix=FUTURE
// RUN: not attune-tune --status --db=%t/tuning.db 2>&1 | FileCheck %s --check-prefix=FUTURE
// RUN: cmp %t/tuning.db %t/before.db
// RUN: not ls %t/o.mlir
// FUTURE: error: cannot use '{{.*}}tuning.db' as a tuning database: expects schema version 9, but got 99; a newer version of this tool wrote it
//
// Knobs that this version does not have.
// RUN: sed 's/: !query, !query, !query$/schedule(<blockQ = 64>) : !query, !query, !query/' %s > %t/old.mlir
// RUN: not attune-tune %t/old.mlir --device=none --chip=sm_90 2>&1 | FileCheck %s --check-prefix=KNOB
// KNOB: old.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}blockQ

!query = tensor<1x1x?x64xf16>

func.func @attention(%q: !query, %k: !query, %v: !query) -> !query {
  %o = attn.attention %q, %k, %v : !query, !query, !query
  return %o : !query
}
