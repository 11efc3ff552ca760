#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs, on Debian 12, the packages that the build needs and that are
# missing. Where nothing is missing it needs neither network nor root, and says
# nothing. All packages come from Debian itself (bookworm and bookworm-security).

set -euo pipefail

packages=(
  # build
  cmake ninja-build ccache clang-22 lld-22 clang-format-22 clang-tidy-22
  # the sanitizers
  libclang-rt-22-dev
  # LLVM, MLIR and lld as libraries, and what their CMake packages look for
  llvm-22-dev libmlir-22-dev liblld-22-dev zlib1g-dev libzstd-dev
  # mlir-tblgen, mlir-opt, FileCheck, lit
  llvm-22-tools mlir-22-tools python3
  # the fibers of the host executor
  libboost-context-dev
  # the tuning database and the unit tests
  libsqlite3-dev libgtest-dev
  # the Python package, with what it is tested with in an environment of its own
  python3-dev python3-venv
  # the plots of attune-report
  python3-matplotlib
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

fail() {
  printf 'install-dependencies: error: %s\n' "$1" >&2
  printf 'install-dependencies: note: what is missing: apt-get install --no-install-recommends %s\n' "${missing[*]}" >&2
  exit 1
}

distribution=$(. /etc/os-release 2>/dev/null && printf '%s %s' "${ID:-unknown}" "${VERSION_ID:-}" || printf 'an unknown system')
command -v apt-get >/dev/null ||
  fail "expects Debian 12 with apt-get, but this is $distribution: install LLVM, MLIR, lld and clang 22 and the other packages by hand, then configure with -DCMAKE_PREFIX_PATH=<prefix of LLVM 22>"

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || fail "installing packages expects root or sudo, but this is user '$(id -un)' and there is no sudo"
  as_root=(sudo)
fi

printf 'Installing %s\n' "${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update || fail "apt-get update failed: is the network up?"
for package in "${missing[@]}"; do
  apt-cache show "$package" >/dev/null 2>&1 ||
    fail "package '$package' is not offered to this system ($distribution); Debian 12 has it in bookworm or bookworm-security"
done
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --no-install-recommends "${missing[@]}" ||
  fail "apt-get install failed; its message stands above"
