"""What the GPUs say of themselves, through a stand-in for NVML: why a rank is slow."""
import json

import pytest

# Steps of one kernel each, as a device would run it; rank 1's takes twice as long.
PROGRAM = r"""
#include "collect/annotate.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  const int late = atoi(getenv("RANK"));
  for (int i = 0; i < 60; ++i) {
    stallscope_range_begin("step");
    const uint32_t id = stallscope_next_correlation();
    stallscope_api_begin("cudaLaunchKernel", (stallscope_api){
        .call = STALLSCOPE_API_LAUNCH, .device = 0, .stream = 7, .correlation = id});
    stallscope_end();
    stallscope_kernel_begin("gemm", (stallscope_kernel){.device = 0, .stream = 7, .correlation = id});
    usleep(late ? 20000 : 10000);
    stallscope_end();
    stallscope_end();
  }
  return 0;
}
"""

WELL = "clock=1980 max=1980 reasons=0x0 power=300 memory=1000000"


@pytest.fixture
def record(tool, build, compile_c, tmp_path):
    program = compile_c("ranks", PROGRAM)

    def run(gpus, devices=("0", "1")):
        ranks = " & ".join(f"RANK={rank} CUDA_VISIBLE_DEVICES={device} {program}"
                           for rank, device in enumerate(devices))
        out = tmp_path / "out"
        tool("run", "-q", "--force", "-o", out, "--", "sh", "-c", f"{ranks} & wait",
             env={"LD_LIBRARY_PATH": str(build / "mock/nvml"), "MOCK_NVML": gpus, "WORLD_SIZE": "2"})
        slow, = [f for f in tool.report(out)["findings"] if f["ruleId"] == "slow-rank"]
        assert slow["ranks"] == [1]
        counters = [json.loads(line) for line in tool("dump", out, "--kind", "counter").stdout.splitlines()]
        return slow["message"], counters
    return run


def values(counters, rank, name):
    return {event["value"] for event in counters if event["rank"] == rank and event["name"] == name}


@pytest.mark.parametrize("devices", [("0", "1"), ("GPU-00000000", "GPU-00000001")])
def test_a_lowered_clock_is_why_a_rank_is_slow(record, devices):
    slowed = "clock=600 max=1980 reasons=0x24 power=120 memory=2000000"
    message, counters = record(f"{WELL}; {slowed}", devices)
    assert "the GPU's clock is lowered to 600 of 1980 MHz: power cap" in message
    # Each process's own device 0, whatever the driver's number of it.
    assert values(counters, 0, "gpu0.sm_clock_mhz") == {1980}
    assert values(counters, 1, "gpu0.sm_clock_mhz") == {600}
    assert values(counters, 1, "gpu0.throttle_reasons") == {0x24}
    assert values(counters, 1, "gpu0.power_w") == {120}
    assert values(counters, 1, "gpu0.memory_used_bytes") == {2000000}
    assert values(counters, 0, "gpu0.other_processes") == {0}


def test_a_neighbour_on_the_gpu_is_why_a_rank_is_slow(record):
    message, _ = record(f"{WELL}; {WELL} pids=1")
    assert "1 other process computes on its GPU" in message


def test_what_all_gpus_suffer_slows_no_single_rank(record):
    slowed = "clock=600 max=1980 reasons=0x4"
    message, _ = record(f"{slowed}; {slowed}")
    assert "clock" not in message
