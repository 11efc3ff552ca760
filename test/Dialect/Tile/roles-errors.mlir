// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is no role of warps.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects a role with a name}}
func.func private @role_name() attributes {r = #tile.role<"", warps = 4>}

// -----

// expected-error @below {{expects role 'load' to have at least one warp, but got 0}}
func.func private @role_warps() attributes {r = #tile.role<"load", warps = 0, threads = one>}

// -----

// expected-error @below {{expects registers of role 'load', or 0 for those that it starts with, but got -8}}
func.func private @role_negative_registers() attributes {r = #tile.role<"load", warps = 4, registers = -8>}

// -----

func.func private @role_threads() attributes {
  // expected-error @below {{expected one of [all, one] for which threads of a role run its program, got: some}}
  r = #tile.role<"load", warps = 4, threads = some>}

// -----

func.func private @role_order() attributes {
  // expected-error @below {{expected 'teams'}}
  r = #tile.role<"load", warps = 4, threads = one, registers = 24>}

// -----

func.func private @role_detail() attributes {
  // expected-error @below {{expected 'teams'}}
  r = #tile.role<"load", warps = 4, warps = 4>}

// -----

// expected-error @below {{expects the 8 warps of role 'compute' to be teams of as many each, but got 3 teams}}
func.func private @role_uneven_teams() attributes {r = #tile.role<"compute", warps = 8, teams = 3>}

// -----

// expected-error @below {{expects the 8 warps of role 'compute' to be teams of as many each, but got 0 teams}}
func.func private @role_no_teams() attributes {r = #tile.role<"compute", warps = 8, teams = 0>}

// -----

// expected-error @below {{expects one team in role 'load', of which one thread runs the program, but got 2}}
func.func private @role_teams_of_one_thread() attributes {r = #tile.role<"load", warps = 4, threads = one, teams = 2>}

// -----

func.func private @role_teams_first() attributes {
  // expected-error @below {{expected '>'}}
  r = #tile.role<"load", warps = 4, teams = 2, threads = one>}

// -----

func.func @ping_pong_end() {
  // expected-error @below {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2}}
  tile.ping_pong_end of 1
  return
}
