// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search in a stated state of the device. Without queries all is right.
//
// REQUIRES: attune-tune
// DEFINE: %{part} = --only=block-m=64,block-n=64,num-warps=4,k-stages=2,v-stages=2,exp-on-fma=0,rescale=0,tile-order=ascending,split-k=1
// RUN: rm -rf %t && mkdir %t
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t attune-tune %s %{part} --budget=2 --finalists=2 --final-rounds=1 --size=seq-q=0 \
// RUN:   --db=%t/tuning.db --json=%t/sustained.json --quiet > %t/table 2> %t/log
// RUN: FileCheck %s < %t/table
// RUN: FileCheck %s --check-prefix=QUIET --allow-empty < %t/log
// RUN: FileCheck %s --check-prefix=JSON < %t/sustained.json
// CHECK: rank    TFLOP/s {{.*}} W pJ/FLOP
// CHECK: the best was measured sustained, at 1755 MHz, limited by power-cap,thermal, {{[0-9]+}} W
// QUIET-NOT: warning
// JSON: "chip_state": "sustained"
// JSON: "objective": "time"
// JSON: "baseline_ns": 2000000
// JSON: "chip_state": "sustained"
// JSON: "settled": true
// JSON: "state": "finished"
//
// What was measured in one state is not known in the other.
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t not attune-tune %s %{part} --budget=0 --size=seq-q=0 --state=cool --db=%t/tuning.db \
// RUN:   --quiet 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: attune-tune: error: expects a stored result of 'attention' on sm_90a
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t attune-tune %s %{part} --budget=2 --size=seq-q=0 --state=cool --db=%t/tuning.db \
// RUN:   --quiet | FileCheck %s --check-prefix=COOL
// COOL: attention on sm_90a: 2 of {{[0-9]+}} legal schedules tried in {{[0-9ms]+$}}
// COOL: the best was measured cool, at 1755 MHz
// RUN: attune-tune --status --db=%t/tuning.db | FileCheck %s --check-prefix=STATUS
// STATUS: session 1: {{.*}} W, sustained, strategy
// STATUS: session 3: {{.*}} W, cool, strategy
//
// What spoils a measurement is said once, however many candidates there are.
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t FAKE_DRIVER_PROCESSES=2 FAKE_DRIVER_BUSY=37 \
// RUN:   FAKE_DRIVER_FAULT=nvmlDeviceGetTotalEnergyConsumption attune-tune %s %{part} --budget=2 --size=seq-q=0 --final-rounds=1 \
// RUN:   --quiet 2>&1 | FileCheck %s --check-prefix=SPOILT
// SPOILT:     attune-tune: warning: the device is busy for 37 percent of the time
// SPOILT:     warning: 1 other process has the device open
// SPOILT-NOT: warning: 1 other
// SPOILT:     warning: the device has no counter of energy that moves
// SPOILT-NOT: warning:
//
// Energy is an objective where it is counted.
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t attune-tune %s %{part} --budget=1 --finalists=1 --objective=energy --size=seq-q=0 \
// RUN:   --json=%t/energy.json --quiet | FileCheck %s --check-prefix=ENERGY
// RUN: FileCheck %s --check-prefix=ENERGYJSON < %t/energy.json
// ENERGY: the best was measured sustained
// ENERGYJSON: "objective": "energy"
// ENERGYJSON: "energy_j":
// RUN: env LD_LIBRARY_PATH=%fake_driver TMPDIR=%t FAKE_DRIVER_FAULT=nvmlDeviceGetTotalEnergyConsumption not attune-tune %s \
// RUN:   --objective=energy --size=seq-q=0 2>&1 | FileCheck %s --check-prefix=NOCOUNTER
// NOCOUNTER: attune-tune: error: expects a device that counts energy with --objective=energy, but Fake GPU (sm_90, driver 13000) does not
// RUN: not attune-tune %s --objective=energy-delay --state=cool 2>&1 | FileCheck %s --check-prefix=COOLENERGY
// COOLENERGY: attune-tune: error: expects --state=sustained with --objective=energy-delay, for energy is counted over work without pause, but got cool
//
// Without a device there is no state.
// RUN: not attune-tune %s --chip=sm_90a --device=none --state=sustained 2>&1 | FileCheck %s --check-prefix=NODEVICE
// RUN: not attune-tune %s --chip=sm_90a --device=none --objective=energy 2>&1 | FileCheck %s --check-prefix=NODEVICE
// NODEVICE: attune-tune: error: expects a device with --state and --objective, but there is none (--device=none was given)
// RUN: not attune-tune %s --chip=sm_90a --device=host --state=cool 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: attune-tune: error: expects a device with --state and --objective, but there is none (the host executor is no chip)
// RUN: not attune-tune %s --pipeline="builtin.module()" --state=cool 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: attune-tune: error: expects no --state and no --objective with --pipeline

!query = tensor<1x2x?x64xf16>
!key = tensor<1x2x64x64xf16>

func.func @attention(%q: !query, %k: !key, %v: !key) -> !query {
  %o = attn.attention %q, %k, %v : !query, !key, !key
  return %o : !query
}
