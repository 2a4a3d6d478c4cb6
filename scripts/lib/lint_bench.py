"""Times `stallscope lint` and its peers, in turns, and prints ratios of medians."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(command, folder):
    """Wall seconds, processor seconds and peak MB of one run."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: there are findings
        sys.exit(f"{command[0]} failed with exit code {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def in_turns(commands, folder, rounds=ROUNDS):
    """Medians per command; each round runs all, so that a busy machine slows all alike."""
    results = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            results[name].append(run(command, folder))
    return {name: [statistics.median(column) for column in zip(*rows)]
            for name, rows in results.items()}


def count_lines(folder):
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


def use_real_headers(folder, include):
    """Makes lint read a folder with PyTorch's own headers instead of our stubs."""
    (folder / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(folder), "file": "train.cpp",
          "arguments": ["c++", "-std=c++17", f"-I{include}", f"-I{include}/torch/csrc/api/include",
                        "-c", "train.cpp"]}]))


def copy_corpus(folder):
    """C++ that lint is tested with: rules' cases, samples, programs."""
    for pattern in ("rules/cases/*/*.cpp", "samples/*/*.cpp", "tests/corpus/libtorch/*.cpp"):
        for file in SOURCE.glob(pattern):
            shutil.copy(file, folder / f"{file.parent.name}-{file.name}")


def agreement(tool, include):
    """Whether stub headers and PyTorch's own lead to the same findings."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / ".git").mkdir()
        copy_corpus(folder)

        def findings():
            done = subprocess.run([tool, "lint", ".", "--format", "json", "--exit-zero"], cwd=folder,
                                  capture_output=True, text=True, check=True)
            return {(f["ruleId"], f["locations"][0]["file"], f["locations"][0]["line"])
                    for f in json.loads(done.stdout)["findings"]}
        stubs = findings()
        use_real_headers(folder, include)
        real = findings()
        count = len(list(folder.glob("*.cpp")))
        print(f"{count} files of C++, read with stubs and with real headers: {len(stubs & real)} findings are "
              f"the same, {len(stubs ^ real)} are not (goal: 0)")
        for finding in sorted(stubs ^ real):
            print("  only with", "stubs:" if finding in stubs else "real headers:", *finding)


def real_headers(tool, include):
    """LibTorch programs with PyTorch's own headers: clang, lint without and with them compiled. Only programs that
    compile: clang has less to do for one with errors."""
    clang = shutil.which("clang++-19") or shutil.which("clang++")
    if not clang or not (include / "torch/csrc/api/include/torch/torch.h").exists():
        print("real headers: not measured, clang++ or PyTorch's headers are not here")
        return
    parse = [clang, "-fsyntax-only", "-w", "-std=c++17", f"-I{include}",
             f"-I{include}/torch/csrc/api/include", "train.cpp"]
    command = [tool, "lint", "train.cpp", "--exit-zero"]
    full, cold, warm = [], [], []
    for program in sorted(SOURCE.glob("tests/corpus/libtorch/*.cpp")):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            copy = folder / "train.cpp"
            shutil.copy(program, copy)
            use_real_headers(folder, include)
            full.append(run(parse, folder))
            cold.append(run(command, folder))
            for _ in range(5):
                copy.write_text(copy.read_text() + "\n")  # other bytes: types are read anew
                warm.append(run(command, folder))
    middle = [[statistics.median(column) for column in zip(*rows)] for rows in (full, cold, warm)]
    walls, shares = ([one[i] / other[i] for one, other in zip(cold, full)] for i in (0, 1))
    print(f"real headers, {len(full)} programs: clang parses in {middle[0][0]:.2f} s; lint, cold: {middle[1][0]:.2f} s, "
          f"{statistics.median(walls):.2f} of that ({min(walls):.2f} to {max(walls):.2f}; goal: 0.55; "
          f"{statistics.median(shares):.2f} by processor time), {middle[1][2]:.0f} MB (goal: 900); from the compiled "
          f"headers {middle[2][0]:.2f} s (goal: 0.3; {middle[2][1]:.2f} s of processor time), {middle[2][2]:.0f} MB")
    agreement(tool, include)


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    bench = pathlib.Path(sys.argv[2]).resolve()
    tree, programs = bench / "tree", bench / "venv/bin"
    lines = count_lines(tree)
    sys.stdout.reconfigure(line_buffering=True)
    shutil.rmtree(tree / ".stallscope-cache", ignore_errors=True)
    warm = [tool, "lint", ".", "--exit-zero", "--statistics"]
    cold = [*warm, "--no-cache"]
    run(warm, tree)
    ruff = [programs / "ruff", "check", "--no-cache", "--isolated", "."]
    result = in_turns({"cold": cold, "warm": warm, "ruff": ruff}, tree)
    floor = result["ruff"][0]
    print(f"{lines} lines of Python, {os.cpu_count()} cores, medians of {ROUNDS} runs in turns")
    for name, goal in (("cold", 3), ("warm", 1)):
        wall, processor, memory = result[name]
        print(f"lint, {name} cache: {wall:.2f} s wall, {processor:.2f} s processor, {memory:.0f} MB; "
              f"{wall / floor:.2f} x ruff (goal: at most {goal})")
    print(f"ruff check --no-cache: {floor:.2f} s wall, {result['ruff'][1]:.2f} s processor, "
          f"{result['ruff'][2]:.0f} MB")
    timings = subprocess.run([tool, "lint", ".", "--exit-zero", "--statistics", "--no-cache", "--timings"],
                             cwd=tree, capture_output=True, text=True, check=True)
    print(next(line for line in timings.stderr.splitlines() if "parsing took" in line),
          "(goal: parsing at least half)")

    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder)
        text = (tree / "torch/optim/adam.py").read_text().splitlines(keepends=True)[:300]
        (small / "train.py").write_text("".join(text))
        (small / "setup.py").touch()
        one = in_turns({"one": [tool, "lint", "train.py", "--no-cache", "--exit-zero"]}, small, 20)
        print(f"lint of one 300-line file: {one['one'][0] * 1e3:.0f} ms from start to exit "
              "(goal: at most 60)")
        # A LibTorch program: all cases in C++ behind one include, so that every rule has work.
        rules = pathlib.Path(__file__).resolve().parents[2] / "rules/cases"
        cases = [case.read_text() for case in sorted(rules.glob("*/*.cpp"))]
        program = "#include <torch/torch.h>\n" + "".join(cases)
        (small / "train.cpp").write_text(program)
        cpp = in_turns({"cpp": [tool, "lint", "train.cpp", "--no-cache", "--exit-zero"]}, small, 20)
        print(f"lint of one C++ file of {program.count(chr(10))} lines that includes torch/torch.h: "
              f"{cpp['cpp'][0] * 1e3:.0f} ms, {cpp['cpp'][2]:.0f} MB (goal: at most 1200 ms, 900 MB)")
        real_headers(tool, bench / "headers/torch/include")
        part = small / "part"
        shutil.copytree(tree / "torch/optim", part)
        (part / "setup.py").touch()
        part_lines = count_lines(part)
        both = in_turns({"lint": cold, "torchfix": [programs / "torchfix", "--select=ALL", "."]},
                        part, 1)
        print(f"on {part_lines} lines of torch.optim: lint {both['lint'][0]:.2f} s, TorchFix "
              f"{both['torchfix'][0]:.1f} s; per line, on the whole tree, lint is "
              f"{(both['torchfix'][0] / part_lines) / (result['cold'][0] / lines):.0f} times faster "
              "(goal: 100)")


if __name__ == "__main__":
    main()
