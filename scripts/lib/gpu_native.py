"""Programs of CUDA C++: the planted stalls of samples/cuda and their fixed twins, built by nvcc."""
import json
import shutil

from expected_lines import expected_line
from gpu_harness import OUT, ROOT, NotApplicable, check, events, expect, findings, record, run

SAMPLES = ROOT / "samples/cuda"


def built(folder, variant):
    """The program of samples/cuda/FOLDER/VARIANT.cu."""
    if not shutil.which("nvcc"):
        raise NotApplicable("nvcc is not installed")
    program = OUT / f"{folder.name}-{variant}.program"
    run("nvcc", "-g", "-O2", "-arch=native", "-o", program, folder / f"{variant}.cu", timeout=120)
    return program


def pair_check(folder):
    @check(f"CUDA C++: {folder.name} is found at its line, and not in the fixed twin", torch=False, seconds=40)
    def pair():
        line, rule = expected_line(folder / "stalled.cu")
        reports, values = {}, {}
        for variant in ("stalled", "fixed"):
            program = built(folder, variant)
            plain = run(program).stdout
            done, reports[variant] = record(f"cuda-{folder.name}-{variant}", program, options=("--source", folder))
            expect(done.stdout == plain, f"{variant} prints {done.stdout!r} instead of {plain!r}")
        found = [f for f in findings(reports["stalled"], rule) if any(place["line"] == line for place in f["locations"])]
        expect(found, f"{rule} is not found at line {line}: "
               + json.dumps([(f["ruleId"], f["status"], f["locations"][:1]) for f in reports["stalled"]["findings"]])[:150])
        expect(not findings(reports["fixed"], rule), "found in the fixed twin")
        return f"{rule} at line {line}"


for each in sorted(SAMPLES.iterdir()):
    pair_check(each)


@check("CUDA C++: kernels have their launches' lines", torch=False, seconds=10)
def launch_lines():
    launches = [event for event in events("cuda-item-in-step-stalled") if event["name"].startswith("cudaLaunchKernel")]
    lines = {frame["line"] for event in launches for frame in event.get("stack", ())
             if isinstance(frame, dict) and frame.get("file", "").endswith("stalled.cu")}
    expect(launches and lines, f"{len(launches)} launches, lines {sorted(lines)}")
    return f"{len(launches)} launches from lines {sorted(lines)}"
