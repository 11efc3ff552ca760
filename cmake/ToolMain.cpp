// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `main` of a tool that has an executable to itself. The build names the
// entry; attune_add_tool says why a tool has no `main` of its own.

int ATTUNE_TOOL_MAIN(int argc, char **argv);

int main(int argc, char **argv) { return ATTUNE_TOOL_MAIN(argc, argv); }
