# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Renames the wheel of the current folder for the oldest glibc whose symbols its
# libraries take, so that pip elsewhere knows whether it may install it. Fails if
# they need a library that is no part of every Linux, or the wheel is too large.

import pathlib
import re
import subprocess
import sys
import zipfile

#: The bound that the project keeps.
MAX_BYTES = 60 << 20
#: Of PEP 600, as far as the libraries need them.
ALLOWED = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "libgcc_s.so.1",
    "libstdc++.so.6",
}


def inspect(path: pathlib.Path) -> tuple[set[str], tuple[int, int]]:
    """The libraries that an object needs, and the newest version of glibc."""
    dynamic = subprocess.run(["readelf", "--wide", "--dynamic", str(path)], check=True, capture_output=True, text=True).stdout
    versions = subprocess.run(["readelf", "--wide", "--version-info", str(path)], check=True, capture_output=True, text=True).stdout
    found = [(int(major), int(minor)) for major, minor in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", versions)]
    return set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)), max(found, default=(2, 17))


def main() -> int:
    (wheel,) = pathlib.Path().glob("*.whl")
    if (size := wheel.stat().st_size) > MAX_BYTES:
        print(f"tag-wheel: error: expects a wheel of at most {MAX_BYTES} bytes, but got {size}", file=sys.stderr)
        return 1
    with zipfile.ZipFile(wheel) as archive:
        objects = [name for name in archive.namelist() if ".so" in name]
        archive.extractall("unpacked", objects)
    own = {pathlib.Path(name).name for name in objects}
    newest = (2, 17)
    for name in objects:
        needed, version = inspect(pathlib.Path("unpacked") / name)
        if foreign := needed - ALLOWED - own:
            print(
                f"tag-wheel: error: expects {name} to need libraries of every Linux alone, but got {', '.join(sorted(foreign))}",
                file=sys.stderr,
            )
            return 1
        newest = max(newest, version)
    subprocess.run(["rm", "-r", "unpacked"], check=True)
    tag = f"manylinux_{newest[0]}_{newest[1]}_x86_64"
    subprocess.run(
        [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, str(wheel)], check=True, stdout=subprocess.DEVNULL
    )
    (wheel,) = pathlib.Path().glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / (1 << 20):.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
