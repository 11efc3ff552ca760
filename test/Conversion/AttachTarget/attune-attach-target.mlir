// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description of a chip by name; there is no default.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" | FileCheck %s --check-prefix=NVIDIA
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" | FileCheck %s --check-prefix=AMD
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-attach-target="chip=gfx942" | FileCheck %s --check-prefix=AMD
// RUN: attune-opt %s --attune-attach-target="chip=sm_80 sms=3" | FileCheck %s --check-prefix=PART
// RUN: not attune-opt %s --attune-attach-target="chip=sm_80 sms=-3" 2>&1 | FileCheck %s --check-prefix=SMS
// RUN: not attune-opt %s --attune-attach-target="chip=sm_1" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not attune-opt %s --attune-attach-target 2>&1 | FileCheck %s --check-prefix=MISSING

// NVIDIA: module attributes {tile.target = #tile.target<chip = "sm_80", family = "Ampere", lanes = 32
// AMD: module attributes {tile.target = #tile.target<chip = "gfx942", family = "CDNA", lanes = 64
// A part of a device.
// PART: chip = "sm_80", family = "Ampere", lanes = 32, sms = 3, shared = 166912
// SMS: '-3' value invalid for uint argument
// UNKNOWN: error: expects a known chip ({{.*}}gfx942{{.*}}sm_80{{.*}}), but got 'sm_1'
// MISSING: error: expects a known chip ({{.*}}), but got ''
module {}
