"""Checks that an injected library loads into any image: LIBRARY PATTERN...

Nothing newer than GLIBC_2.28, only libc's own libraries, only the named entry
points exported, at most 64 bytes of static TLS, no executable stack, under 1 MB,
and nothing imported that allocates from the program's heap or waits for a lock.
"""
import fnmatch
import os
import re
import subprocess
import sys

NEWEST_GLIBC = (2, 28)
ALLOWED_LIBRARIES = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1",
                     "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

# An event can come from anywhere, so also from within malloc or under a lock.
FORBIDDEN_IMPORTS = re.compile(
    r"^(malloc|calloc|realloc|aligned_alloc|posix_memalign|_Zn[wa].*|pthread_(mutex|rwlock|cond)_.*|sem_wait)$")


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, capture_output=True, text=True).stdout


def main():
    library, allowed_exports = sys.argv[1], set(sys.argv[2:])
    wrong = []
    symbols = readelf("--dyn-syms", library)
    for version in set(re.findall(r"@GLIBC_([0-9.]+)", symbols)):
        if tuple(map(int, version.split("."))) > NEWEST_GLIBC:
            wrong.append(f"needs GLIBC_{version}")
    exports, imports = set(), set()
    for line in symbols.splitlines():
        parts = line.split()
        if len(parts) >= 8 and parts[6] != "UND" and parts[4] in ("GLOBAL", "WEAK"):
            exports.add(parts[7].split("@")[0])
        elif len(parts) >= 8 and parts[6] == "UND":
            imports.add(parts[7].split("@")[0])
    wrong += [f"imports {name}" for name in sorted(filter(FORBIDDEN_IMPORTS.match, imports))]
    if not exports:
        wrong.append("exports nothing: was the library read?")
    wrong += [f"exports {name}" for name in sorted(exports)
              if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed_exports)]
    wrong += [f"does not export {pattern}" for pattern in sorted(allowed_exports)
              if not fnmatch.filter(exports, pattern)]
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", library)))
    wrong += [f"needs {name}" for name in sorted(needed - ALLOWED_LIBRARIES)]
    segments = readelf("-l", library)
    for line in segments.splitlines():
        parts = line.split()
        if parts[:1] == ["TLS"] and int(parts[5], 16) > 64:
            wrong.append(f"has {int(parts[5], 16)} bytes of static TLS")
        if parts[:1] == ["GNU_STACK"] and "E" in parts[6]:
            wrong.append("asks for an executable stack")
    if os.path.getsize(library) >= 1 << 20:
        wrong.append(f"has {os.path.getsize(library)} bytes")
    print("\n".join(wrong) or f"{library}: {len(exports)} entry points, nothing newer than 2.28")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
