"""For scripts/cupti-abi.sh: FOLDER for wheels, then the CUDA headers that the collector is built with."""
import io
import pathlib
import re
import subprocess
import sys
import zipfile

FOLDER, CUDA = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

# What src/collect/cupti_records.cpp reads. A field in brackets came later: it is gated by the version.
FIELDS = {
    "Kernel": "kind start end deviceId contextId streamId correlationId name [graphId] [graphNodeId]",
    "Memcpy": "kind copyKind srcKind dstKind flags bytes start end deviceId contextId streamId correlationId",
    "MemcpyPtoP": "kind copyKind srcKind dstKind flags bytes start end deviceId contextId streamId correlationId "
                  "[graphId] [graphNodeId]",
    "Memset": "kind start end deviceId contextId streamId correlationId bytes",
    "Synchronization": "kind type start end correlationId contextId streamId cudaEventId [cudaEventSyncId]",
    "CudaEvent": "kind correlationId contextId streamId eventId [cudaEventSyncId]",
    "Overhead": "kind overheadKind objectKind objectId start end [overheadData]",
    "Jit": "kind jitEntryType jitOperationType deviceId start end correlationId [threadId]",
    "Context": "kind contextId deviceId nullStreamId",
    "Stream": "kind contextId streamId priority flag correlationId",
    "GraphTrace": "kind correlationId start end deviceId contextId streamId graphId",
    "Memory": "kind memoryOperationType memoryKind correlationId address bytes timestamp deviceId",
    "API": "kind cbid start end threadId correlationId",
}
CONSTANTS = """CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_DRIVER CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
CUPTI_ACTIVITY_KIND_MEMCPY CUPTI_ACTIVITY_KIND_MEMSET CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
CUPTI_ACTIVITY_KIND_CUDA_EVENT CUPTI_ACTIVITY_KIND_OVERHEAD CUPTI_ACTIVITY_KIND_GRAPH_TRACE
CUPTI_ACTIVITY_KIND_MEMORY2 CUPTI_ACTIVITY_KIND_MEMCPY2 CUPTI_ACTIVITY_KIND_JIT CUPTI_ACTIVITY_KIND_CONTEXT
CUPTI_ACTIVITY_KIND_STREAM CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC CUPTI_CB_DOMAIN_RUNTIME_API
CUPTI_CB_DOMAIN_DRIVER_API CUPTI_CB_DOMAIN_RESOURCE CUPTI_API_ENTER CUPTI_API_EXIT""".split()


def numbered(text, base):
    """The newest form of a record in a header: Kernel10, Memcpy6, ... and the plain name where none has a number."""
    forms = {int(n or 1) for n in re.findall(rf"\bCUpti_Activity{base}(\d*);", text)}
    # MEMORY2's records have their own numbering: Memory2 to Memory4.
    return f"CUpti_Activity{base}{max(forms) if max(forms) > 1 else ''}" if forms else None


def body_of(text, record):
    """What stands between the braces of a record's definition."""
    end = re.search(r"\}\s*" + record + r"\s*;", text) if record else None
    return text[text.rfind("typedef struct", 0, end.start()):end.start()] if end else ""


def program(include):
    text = "".join(path.read_text(errors="replace") for path in include.glob("cupti_activity*.h"))
    # Not cupti.h: it brings the parameters of all calls, which need CUDA's headers of its own version.
    lines = ["#include <stdint.h>", "#include <cuda.h>", "#include <cupti_callbacks.h>", "#include <cupti_activity.h>",
             "#include <stdio.h>", "#include <stddef.h>", "int main(void) {"]
    for base, fields in FIELDS.items():
        record = numbered(text, base)
        body = body_of(text, record)
        for field in fields.split():
            name = field.strip("[]")
            if re.search(rf"\b{name}\b", body):
                lines.append(f'printf("{base}.{name} %zu\\n", offsetof({record}, {name}));')
    lines += [f'printf("{name} %d\\n", (int){name});' for name in CONSTANTS]
    return "\n".join(lines + ["return 0;", "}"])


def layout(include, name):
    source, binary = FOLDER / f"{name}.c", FOLDER / f"{name}.bin"
    source.write_text(program(include))
    subprocess.run(["cc", "-w", "-o", binary, source, "-I", include, "-I", CUDA], check=True,
                   stderr=subprocess.DEVNULL)
    output = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    return dict(line.split() for line in output.splitlines())


def versions(package):
    done = subprocess.run([sys.executable, "-m", "pip", "index", "versions", package], capture_output=True, text=True)
    line = re.search(r"Available versions: (.*)", done.stdout)
    return line[1].split(", ") if line else []


def headers(package, version):
    include = FOLDER / f"{package}-{version}"
    if not include.is_dir():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", FOLDER,
                        f"{package}=={version}"], check=True, capture_output=True)
        wheel = next(FOLDER.glob(f"{package.replace('-', '_')}-{version}*.whl"))
        include.mkdir()
        with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as archive:
            for member in archive.namelist():
                if re.search(r"/include/[^/]+\.h$", member):
                    (include / pathlib.Path(member).name).write_bytes(archive.read(member))
        wheel.unlink()
    return include


expected, bad, checked = layout(CUDA, "built-with"), 0, 0
required = {f"{base}.{field}" for base, fields in FIELDS.items() for field in fields.split() if field[0] != "["}
missing = required - expected.keys()
if missing:
    sys.exit(f"the collector's own headers lack {sorted(missing)}")
for package in ("nvidia-cuda-cupti-cu12", "nvidia-cuda-cupti"):
    for version in versions(package):
        try:
            found = layout(headers(package, version), f"{package}-{version}")
        except subprocess.CalledProcessError as error:
            print(f"{version:12} cannot be checked: {error}")
            bad += 1
            continue
        wrong = [f"{name} is {found.get(name, 'absent')}, not {value}" for name, value in expected.items()
                 if found.get(name) != value and not (name not in found and name not in required and "." in name)]
        later = [name for name in expected if "." in name and name not in found]
        checked += 1
        bad += bool(wrong)
        print(f"{version:12} {'; '.join(wrong) if wrong else 'same layout'}"
              + (f" (not yet there: {', '.join(later)})" if later else ""))
print(f"{checked} versions checked against the collector's headers, {bad} differ")
sys.exit(bad > 0 or checked == 0)
