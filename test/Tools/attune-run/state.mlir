// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state in which a chip is timed, and what it was like meanwhile, by a
// driver whose clock stands still and which takes 321 W.
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-run %s --bench > %t.table 2> %t.log
// RUN: FileCheck %s < %t.table
// RUN: FileCheck %s --check-prefix=QUIET --allow-empty < %t.log
// CHECK: speed     {{.*}} TFLOP/s at 1755 MHz, sustained, limited by power-cap,thermal
// CHECK-NEXT: energy    {{[0-9.e+-]+}} J per launch, {{[0-9]+}} W, {{[0-9.]+}} pJ/FLOP
// QUIET-NOT: warning
//
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-run %s --bench --json | FileCheck %s --check-prefix=JSON
// JSON:      "time": {
// JSON:        "chip_state": "sustained",
// JSON-NEXT:   "clock_mhz": 1755,
// JSON-NEXT:   "energy_j": {{[0-9.e+-]+}},
// JSON-NEXT:   "energy_span_s": {{[0-9.]+}},
// JSON:        "mean_power_w": {{[0-9.]+}}
// JSON:        "other_processes": 0,
// JSON-NEXT:   "pj_per_flop": {{[0-9.]+}},
// JSON-NEXT:   "power_w": 321,
// JSON:        "settled": true,
// JSON-NEXT:   "temperature_c": 54,
// JSON:        "throttle_reasons": [
// JSON-NEXT:     "power-cap",
// JSON-NEXT:     "thermal"
//
// A cool chip is timed as it is, and its energy is not known.
// RUN: env LD_LIBRARY_PATH=%fake_driver attune-run %s --bench --state=cool > %t.cool 2>&1
// RUN: FileCheck %s --check-prefix=COOL < %t.cool
// COOL-NOT: warning
// COOL: speed     {{.*}} TFLOP/s at 1755 MHz, cool
// COOL-NOT: energy
//
// What spoils a measurement is said, each thing once.
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_UNSTEADY=1 FAKE_DRIVER_PROCESSES=3 FAKE_DRIVER_BUSY=37 \
// RUN:   FAKE_DRIVER_FAULT=nvmlDeviceGetTotalEnergyConsumption attune-run %s --bench 2>&1 | FileCheck %s --check-prefix=SPOILT
// SPOILT:      attune-run: warning: the device is busy for 37 percent of the time
// SPOILT-NEXT: attune-run: warning: clock and power did not settle: what was timed is a chip whose clocks still moved
// SPOILT-NEXT: attune-run: warning: the device has no counter of energy that moves: joules and pJ/FLOP are missing
// SPOILT-NEXT: attune-run: warning: 2 other processes have the device open
// SPOILT:      sustained, not settled
// SPOILT-NOT:  warning
//
// RUN: not attune-run %s --state=cool 2>&1 | FileCheck %s --check-prefix=NOBENCH
// NOBENCH: attune-run: error: --state expects --bench: it is the state of a chip that is timed
// RUN: not attune-run %s --bench --state=warm 2>&1 | FileCheck %s --check-prefix=WARM
// WARM: attune-run{{.*}}: for the --state option: Cannot find option named 'warm'!

!tensor = tensor<1x2x64x64xf16>

func.func @attention(%q: !tensor, %k: !tensor, %v: !tensor) -> !tensor {
  %o = attn.attention %q, %k, %v : !tensor, !tensor, !tensor
  return %o : !tensor
}
