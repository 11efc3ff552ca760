// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way over a device, with a driver whose kernels do nothing. What was not
// computed is wrong, and nothing wrong can win, however fast it is. The chip is
// the one with most features of those that run on the device.
//
// A part of the space is as good as all of it.
//
// REQUIRES: attune-tune
// DEFINE: %{part} = --only=block-m=64,block-n=64,num-warps=4,k-stages=2,v-stages=2,exp-on-fma=0,rescale=0,tile-order=ascending,split-k=1
// RUN: rm -rf %t && mkdir %t
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t not attune-tune %s %{part} --budget=2 --size=batch=1,seq-q=64,seq-k=64 \
// RUN:   --db=%t/tuning.db -o %t/tuned.mlir --quiet > %t/table 2> %t/log
// RUN: FileCheck %s --check-prefix=WRONG < %t/table
// RUN: FileCheck %s --check-prefix=NONE < %t/log
// RUN: not ls %t/tuned.mlir
// WRONG: attention on sm_90a: 2 of {{[0-9]+}} legal schedules tried
// WRONG-NEXT: default schedule: wrong-result: result 0:
// WRONG: wrong-result: 2, for example default: result 0:
// WRONG-NOT: TFLOP/s
// NONE: attune-tune: error: no schedule of 'attention' that was tried is valid on sm_90a
//
// Without queries there is nothing to compute: then all is right and timed.
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t attune-tune %s %{part} --budget=3 --size=batch=1,seq-q=0,seq-k=64 \
// RUN:   --db=%t/tuning.db -o %t/tuned.mlir --json=%t/report.json --quiet | FileCheck %s --check-prefix=TIMED
// RUN: FileCheck %s --check-prefix=TUNED < %t/tuned.mlir
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// RUN: attune-tune --status --db=%t/tuning.db | FileCheck %s --check-prefix=STATUS
// TIMED: rank    TFLOP/s         us
// TIMED-NEXT: 1 {{.*}} block-m=
// TIMED: default schedule: rank {{[0-9]}} of
// TIMED: best: block-m=
// TUNED: // attention: {{[0-9.]+}} us on Fake GPU (sm_90, driver 13000)
// TUNED: attn.attention {{.*}}schedule(<
// REPORT: "device": "Fake GPU (sm_90, driver 13000), 2 SMs, 232448 bytes of shared memory, 1000 MHz, 700 W"
// REPORT: "clock_mhz": 1755
// REPORT: "median_ns":
// REPORT: "power_w": 321
// REPORT: "stage": "proof"
// REPORT: "temperature_c": 54
// REPORT: "timed": true
// STATUS: session 1: attention on sm_90a, device Fake GPU (sm_90, driver 13000), 2 SMs
// STATUS: 2 results for {{[0-9]+}} legal schedules: wrong-result 2
// STATUS: session 2:
//
// Without time the winner is the stored one, of the same device alone.
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t attune-tune %s %{part} --budget=0 --size=batch=1,seq-q=0,seq-k=64 \
// RUN:   --db=%t/tuning.db -o %t/again.mlir --quiet | FileCheck %s --check-prefix=STORED
// RUN: cmp %t/tuned.mlir %t/again.mlir
// STORED: {{([12]) of [0-9]+ legal schedules tried in .*, [12]}} of them from the database
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t FAKE_DRIVER_FAULT=nvmlDeviceGetEnforcedPowerLimit not attune-tune %s %{part} \
// RUN:   --budget=0 --size=batch=1,seq-q=0,seq-k=64 --db=%t/tuning.db --quiet 2>&1 | FileCheck %s --check-prefix=OTHERDEVICE
// OTHERDEVICE: attune-tune: error: expects a stored result of 'attention' on sm_90a
//
// A chip that the device does not run is compiled for, unless a device is asked for.
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-tune %s %{part} --chip=sm_80 --budget=1 --size=batch=1,seq-q=64,seq-k=64 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// OTHER: warning: nothing was timed (the device here is 'Fake GPU' (sm_90), which does not run code for 'sm_80')
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-tune %s --chip=sm_80 --device=cuda 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISMATCH
// MISMATCH: attune-tune: error: the device here is 'Fake GPU' (sm_90), which does not run code for 'sm_80'
//
// A driver that fails, and a problem whose sizes are not known, end the search with the reason.
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_FAULT=cuInit not attune-tune %s --device=cuda 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAULT
// FAULT: attune-tune: error: no CUDA device: CUDA_ERROR
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t not attune-tune %s %{part} --device=cuda --quiet 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SIZES
// SIZES: attune-tune: error: cannot make the inputs and the reference: {{.*}}batch

!operand = tensor<?x2x?x64xf16>

func.func @attention(%q: !operand, %k: !operand, %v: !operand) -> !operand {
  %o = attn.attention %q, %k, %v : !operand, !operand, !operand
  return %o : !operand
}
