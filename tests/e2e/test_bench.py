"""`stallscope bench`: the reference trainer's own recording and result."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

pytestmark = pytest.mark.timed

SMALL = ["--layers", 2, "--hidden", 64, "--batch", 4, "--seq", 32, "--vocabulary", 500,
         "--steps", 20]


def bench(tool, folder, *args):
    tool("bench", *args, "-o", folder)
    return json.loads((folder / "reference.json").read_text())


class OtherPrograms:
    """How many CPUs programs that this test did not start use meanwhile, on average."""

    def __enter__(self):
        self.start = self.now()
        return self

    def __exit__(self, *_):
        elapsed, busy, own = (b - a for a, b in zip(self.start, self.now()))
        self.cpus = (busy - own) / elapsed

    @staticmethod
    def now():
        user, nice, system, _, _, irq, softirq, steal = map(
            int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        times = os.times()
        return time.monotonic(), busy, sum(times[:4])


def own_findings(report, other_cpus=0.0):
    """But for what other programs on this machine take: that is no fault of the trainer. They hold
    up one rank more than another, and then the others wait for it in their collectives."""
    found = [each["ruleId"] for each in report["findings"]]
    excused = {"node-contention"}
    if len(report["ranks"]) > 1:
        excused |= {"slow-rank", "late-rank"}
        if "node-contention" in found or other_cpus > 0.25:
            excused |= {"blocking-collective", "exposed-collective"}
    return [each for each in found if each not in excused]


def has_onednn(build):
    return (build / "lib/libdnnl.so.3").exists()


# Two ranks: messages that take a small part of the step.
MEDIUM = ["--layers", 2, "--hidden", 512, "--batch", 8, "--seq", 64, "--vocabulary", 1000,
          "--steps", 12]


@pytest.mark.parametrize("model,ranks", [("bert", 1), ("gpt", 1), ("clt", 1), ("bert", 2),
                                         ("gpt", 2)])
def test_its_own_report_is_free_of_findings(tool, tmp_path, model, ranks):
    args = ["--model", model, *(SMALL if ranks == 1 else MEDIUM), "--tp", ranks]
    if model == "clt":
        args += ["--features", 256, "--k", 8]
    with OtherPrograms() as others:
        result = bench(tool, tmp_path / "out", *args)
    report = tool.report(tmp_path / "out")
    assert own_findings(report, others.cpus) == []
    tokens = 4 * 32 if ranks == 1 else 8 * 64
    assert result["tokensPerSecond"] == pytest.approx(
        tokens / result["stepTimeNs"]["median"] * 1e9, rel=1e-6)
    if report["summary"]["stepTimeNs"] is not None:
        assert result["stepTimeNs"] == report["summary"]["stepTimeNs"]
    # Reporting the folder again gives the same verdict.
    tool("report", tmp_path / "out", "-o", tmp_path / "again")
    assert own_findings(tool.report(tmp_path / "again"), others.cpus) == []


@pytest.mark.timed  # a machine that is busy elsewhere carries no share of a best time
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_roofline_counts_the_work_of_the_shape(tool, build, multiplies_bf16, tmp_path, precision):
    if not has_onednn(build):
        pytest.skip("this build has no oneDNN")
    if precision == "bf16" and not multiplies_bf16:
        refused = tool("bench", "--model", "bert", *SMALL, "--precision", precision, "-o",
                       tmp_path / "out", check=None)
        assert refused.returncode != 0 and "AVX-512" in refused.stderr
        assert "use fp32" in refused.stderr
        return
    result = bench(tool, tmp_path / "out", "--model", "bert", *SMALL, "--precision", precision,
                   "--tp", 2)
    rows, h, v, layers, ranks = 128, 64, 500, 2, 2
    products = layers * 12 * h * h // ranks + h * h + v * h // ranks
    use = result["utilisation"]
    assert use["matrixProductFlops"] == pytest.approx(3 * 2 * rows * products)
    assert 0 < use["modelFlopUtilisation"] < 1.5
    kernels = {row["name"]: row for row in result["kernels"]}
    assert "fused_adamw_kernel" in kernels and "attention_forward_kernel" in kernels
    assert kernels["attention_forward_kernel"]["launches"] == layers
    named = [name for name in kernels if name.startswith("gemm_")]
    assert named and all(precision[0:2] in name.replace("f32", "fp32") for name in named)
    groups = {row["group"]: row for row in result["groups"]}
    assert {"matrix products", "attention", "norm and activation", "loss", "optimizer",
            "embedding"} <= set(groups)
    assert result["memoryBytesPerRank"] < 1.1 * result["minimumMemoryBytesPerRank"]
    plan = {row["parameters"]: row["split"] for row in result["plan"]}
    assert plan["layer.*.mlp.up.weight"] == "column, dimension 1"
    assert plan["layer.*.mlp.down.weight"] == "row, dimension 0"
    assert plan["layer.*.norm*.gain"] == "replicated"


@pytest.mark.timed  # a machine that is busy elsewhere carries no share of a best time
def test_padding_accumulation_dropout_and_recomputation_are_flags(tool, build, tmp_path):
    if not has_onednn(build):
        pytest.skip("this build has no oneDNN")
    plain = bench(tool, tmp_path / "plain", "--model", "gpt", *SMALL)
    it = bench(tool, tmp_path / "out", "--model", "gpt", *SMALL, "--padding", 0.25, "--accumulate",
               2, "--dropout", 0.1, "--recompute")
    seconds = it["stepTimeNs"]["median"] / 1e9
    tokens = it["nonPadTokensPerSecond"] * seconds
    assert tokens == pytest.approx(round(tokens)) and 64 <= tokens < 128
    assert plain["nonPadTokensPerSecond"] == pytest.approx(plain["tokensPerSecond"])
    assert it["utilisation"]["modelFlops"] == pytest.approx(plain["utilisation"]["modelFlops"])
    # All products of a layer's forward pass but the last run again.
    layer, last = 2 * 128 * 12 * 64 * 64, 2 * 128 * 4 * 64 * 64
    attention = 2 * 2 * 4 * 32 * 32 * 64 // 2
    assert it["utilisation"]["recomputedFlops"] == pytest.approx(2 * (layer - last + attention))
    assert it["memoryBytesPerRank"] < plain["memoryBytesPerRank"]
    launches = {row["name"]: row["launches"] for row in it["kernels"]}
    assert launches["attention_backward_kernel"] == 4 and launches["fused_adamw_kernel"] == 1


@pytest.mark.parametrize("activation", ["batch-topk", "token-topk", "jumprelu"])
def test_a_transcoder_tells_what_its_features_do(tool, tmp_path, activation):
    result = bench(tool, tmp_path / "out", "--model", "clt", *SMALL, "--features", 64, "--k", 4,
                   "--activation", activation, "--sparsity", 0.01)
    it = result["transcoder"]
    assert it["features"] == 128 and 0 < it["activeInLastStep"] <= 128 and it["dead"] == 0
    assert it["loss"]["reconstruction"] > 0
    assert (it["loss"]["sparsity"] > 0) == (activation != "batch-topk")


@pytest.mark.timed  # a machine that is busy elsewhere carries no share of a best time
def test_text_says_what_it_divides_by(tool, tmp_path):
    done = tool("bench", "--model", "bert", *SMALL, "--head", "masked", "-o", tmp_path / "out")
    for phrase in ("tokens/s", "model FLOP utilisation", "alone, each at its best", "GB/s", "of best",
                   "compute", "plan", "masked head"):
        assert phrase in done.stdout, phrase


def test_sizes_that_nobody_named_are_in_the_result(tool, tmp_path):
    result = bench(tool, tmp_path / "gpt", "--model", "gpt", "--layers", 1, "--hidden", 128,
                   "--batch", 1, "--seq", 8, "--steps", 4)
    assert (result["heads"], result["vocabulary"], result["k"]) == (2, 50304, None)
    result = bench(tool, tmp_path / "clt", "--model", "clt", "--layers", 1, "--hidden", 64,
                   "--batch", 1, "--seq", 8, "--steps", 4)
    assert (result["heads"], result["features"], result["k"]) == (None, 4096, 32)


def test_a_sweep_is_one_table(tool, tmp_path):
    done = tool("bench", "--model", "gpt", *SMALL, "--sweep", "batch=2,4", "tp=1,3", "-o",
                tmp_path / "out")
    assert "[4/4] batch-4.tp-3" in done.stderr and "model FLOP utilisation" in done.stdout
    rows = json.loads((tmp_path / "out/sweep.json").read_text())["rows"]
    assert [(row["batch"], row["tensorParallel"]) for row in rows] == [(2, 1), (2, 3), (4, 1), (4, 3)]
    for row in rows:  # 500 tokens do not divide by three: that point is a row that did not run
        single = tmp_path / "out" / row["point"] / "reference.json"
        assert single.exists() == (row["tensorParallel"] == 1)
        if single.exists():
            assert row["tokensPerSecond"] == json.loads(single.read_text())["tokensPerSecond"]
        else:
            assert row["tokensPerSecond"] is None
        # Products that took longer alone than the whole step were held up: unknown, not 62,000 %.
        use = row["modelFlopUtilisation"]
        assert use is None or use < 1.5
    assert done.stdout.count("not run") == 2


@pytest.mark.parametrize("axes", [["width=3"], ["batch"], ["batch="], ["batch=1,x"], ["batch=0"],
                                  ["batch=1", "batch=2"], ["tp=-1"]])
def test_a_sweep_of_what_is_no_axis_is_refused(tool, tmp_path, axes):
    done = tool("bench", *SMALL, "--sweep", *axes, "-o", tmp_path / "out", check=2)
    assert "axis" in done.stderr and not (tmp_path / "out").exists()


@pytest.mark.parametrize("args,words", [
    (["--hidden", 100, "--heads", 3], "multiple"),
    (["--hidden", 1 << 30, "--batch", 1 << 20], "of memory"),
    (["--layers", 1 << 31, "--hidden", 1 << 31, "--vocabulary", 1 << 31], "of memory"),
    (["--tp", 3, "--hidden", 64, "--heads", 4], "multiple"),
    (["--model", "nothing"], "bert"),
    (["--batch", 4, "--accumulate", 3], "multiple"),
    (["--model", "clt", "--dropout", 0.1], "no dropout"),
    (["--dropout", "nan"], "'nan' is no number"),
    (["--model", "clt", "--accumulate", 2], "whole batch"),
    (["--model", "clt", "--tp", 2, "--sequence-parallel"], "no sequence"),
    (["--batch", 3, "--seq", 5, "--tp", 2, "--heads", 4, "--vocabulary", 64, "--hidden", 64,
      "--sequence-parallel"], "multiple"),
    (["--batch", 4, "--dp", 3], "multiple"),
])
def test_shapes_that_make_no_sense_are_refused(tool, tmp_path, args, words):
    done = tool("bench", *args, "-o", tmp_path / "out", check=2, timeout=60)
    assert words in done.stderr


TINY = ["--model", "gpt", "--layers", 1, "--hidden", 32, "--batch", 4, "--seq", 8,
        "--vocabulary", 64, "--heads", 4]


def trainer(build, *args, check=0, base=TINY):
    done = subprocess.run([build / "stallscope-trainer", *map(str, [*base, *args])],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == check, done.stderr
    return done


def test_the_trainers_own_command_line_names_its_choices(build):
    help_text = trainer(build, "--help", base=[]).stdout
    assert "{fp32,bf16}" in help_text and "{batch-topk,token-topk,jumprelu}" in help_text
    assert help_text.replace("\n", "").isprintable()
    for args in (["--precision", "fp16"], ["--precision", "1"], ["--activation", "0"]):
        done = trainer(build, *args, base=[], check=2)
        assert f"{args[1]} not in" in done.stderr
    for option in ("--rate", "--dropout", "--padding", "--sparsity"):
        assert option in trainer(build, option, "nan", check=2).stderr


@pytest.mark.parametrize("flag", ["--save", "--facts", "--record-run"])
def test_what_cannot_be_written_is_told_before_the_training(build, tmp_path, flag):
    done = trainer(build, flag, tmp_path / "missing/it", check=2)
    assert "missing/it: cannot be written" in done.stderr
    assert "loss" not in done.stdout


@pytest.mark.parametrize("ranks", [1, 2])
def test_training_resumes_with_the_same_bits(build, tmp_path, ranks):
    for name, args in [("whole", ["--steps", 6]), ("half", ["--steps", 3]),
                       ("rest", ["--steps", 3, "--resume", tmp_path / "half"])]:
        trainer(build, "--tp", ranks, "--save", tmp_path / name, *args)
    for file in tmp_path.glob("whole*"):
        assert file.read_bytes() == (tmp_path / file.name.replace("whole", "rest")).read_bytes()
    assert len(list(tmp_path.glob("whole*"))) == ranks


def test_a_checkpoint_is_split_anew_for_other_ranks(build, tmp_path):
    for model in (["--model", "gpt"], ["--model", "clt", "--features", 32, "--k", 2]):
        args = [*TINY[2:], *model, "--rate", "1e-3"]
        run = lambda *more: subprocess.run(  # noqa: E731
            [build / "stallscope-trainer", *map(str, [*args, *more])], capture_output=True,
            text=True, timeout=120, check=True).stdout
        name = tmp_path / model[1]
        whole = float(run("--steps", 6).split()[-1])
        for there, here in [(1, 2), (2, 1), (4, 2), (2, 4)]:
            saved = f"{name}-{there}"
            run("--steps", 3, "--tp", there, "--save", saved)
            rest = run("--steps", 3, "--tp", here, "--resume", saved, "--save", f"{saved}-to-{here}")
            assert float(rest.split()[-1]) == pytest.approx(whole, rel=1e-5)


def test_a_grid_of_replicas_and_shards_trains_as_one_rank_does(build):
    args = ["--steps", 4, "--rate", "1e-3"]
    losses = [float(trainer(build, *args, *grid).stdout.split()[-1])
              for grid in ([], ["--tp", 2], ["--dp", 2], ["--tp", 2, "--dp", 2],
                           ["--dp", 2, "--accumulate", 2], ["--tp", 2, "--overlap"],
                           ["--tp", 2, "--sequence-parallel"],
                           ["--tp", 2, "--dp", 2, "--sequence-parallel", "--overlap"])]
    assert losses == pytest.approx([losses[0]] * len(losses), rel=1e-5)


def test_replicas_of_a_transcoder_train_as_one_does(build):
    args = [*TINY[2:], "--model", "clt", "--features", 32, "--k", 2, "--steps", 4, "--rate", "1e-3"]
    losses = [float(trainer(build, *args, *grid, base=[]).stdout.split()[-1])
              for grid in ([], ["--dp", 2], ["--tp", 2, "--dp", 2])]
    assert losses == pytest.approx([losses[0]] * len(losses), rel=1e-5)


@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_a_grid_under_an_mpi_launcher(build, flavour):
    launcher = shutil.which(f"mpirun.{flavour}")
    if launcher is None or not (build / f"lib/stallscope_comm_{flavour}.so").exists():
        pytest.skip(f"this build has no support for {flavour}")
    args = [*TINY, "--steps", "4", "--rate", "1e-3"]
    one = float(trainer(build, *args, base=[]).stdout.split()[-1])

    def run(ranks, *grid):
        return subprocess.run(
            [launcher, "-n", str(ranks), build / "stallscope-trainer", *map(str, [*args, *grid])],
            env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                 "OMPI_MCA_rmaps_base_oversubscribe": "1",
                 "OMPI_MCA_btl_vader_single_copy_mechanism": "none"},
            capture_output=True, text=True, timeout=120)

    done = run(4, "--tp", 2, "--dp", 2, "--sequence-parallel")
    assert done.returncode == 0, done.stderr[-2000:]
    assert float(done.stdout.split()[-1]) == pytest.approx(one, rel=1e-5)
    other = run(2, "--tp", 2, "--dp", 2)
    assert other.returncode != 0 and "are not the 2 ranks that were started" in other.stderr


def test_what_a_naive_transcoder_does_too_much_changes_no_loss(build):
    program = build / "samples/naive-clt-naive"
    if not program.exists():
        pytest.skip("this build has no samples")
    losses = []
    for on in ([], ["--dense", "--reduce-each", "--gathers", "--encoder-again"],
               ["--dense", "--rank0-mask"]):
        done = subprocess.run([program, *on], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        losses.append(float(done.stdout.split("loss ")[1]))
    assert losses == pytest.approx([losses[0]] * len(losses), rel=1e-5)
    assert subprocess.run([program, "--rank0-mask"], capture_output=True).returncode == 2


def test_threads_are_those_the_process_may_use(build, tmp_path):
    facts = tmp_path / "facts.json"
    trainer_command = [build / "stallscope-trainer", *map(str, TINY), "--steps", "1", "--facts", facts]
    subprocess.run(["taskset", "-c", str(min(os.sched_getaffinity(0))), *trainer_command], check=True,
                   stdout=subprocess.DEVNULL, timeout=120)
    assert json.loads(facts.read_text())["threads"] == 1


def test_a_damaged_checkpoint_is_refused(build, tmp_path):
    trainer(build, "--steps", 1, "--save", tmp_path / "state")
    whole = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(whole[:len(whole) // 2])
    done = trainer(build, "--resume", tmp_path / "state", check=2)
    assert str(tmp_path / "state") in done.stderr and "does not fit" in done.stderr


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_loss_that_is_no_number_names_step_and_tensor(build, ranks):
    done = trainer(build, "--steps", 5, "--rate", "1e30", "--tp", ranks, check=1)
    assert "step 2: the loss is" in done.stderr
    assert "first not finite in layer.0: layer.0." in done.stderr


def test_a_killed_rank_ends_the_others_and_is_named(build):
    running = subprocess.Popen([build / "stallscope-trainer", *map(str, TINY), "--tp", "2",
                                "--steps", "1000000"], stderr=subprocess.PIPE, text=True,
                               stdout=subprocess.DEVNULL)
    try:
        children = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children")
        deadline = time.monotonic() + 30
        ranks = []
        while len(ranks) < 2 and time.monotonic() < deadline:
            ranks = [int(word) for word in children.read_text().split()]
            time.sleep(0.05)
        # Both have joined once the group's shared memory has lost its name.
        while time.monotonic() < deadline and list(
                pathlib.Path("/dev/shm").glob(f"*run-{running.pid}*")):
            time.sleep(0.05)
        time.sleep(0.5)
        victim = next(pid for pid in ranks if "RANK=1" in pathlib.Path(
            f"/proc/{pid}/environ").read_text().split("\0"))
        os.kill(victim, signal.SIGKILL)
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode != 0
    assert "rank 1" in errors and "rank 0" in errors
    assert not list(pathlib.Path("/dev/shm").glob(f"*run-{running.pid}*"))
