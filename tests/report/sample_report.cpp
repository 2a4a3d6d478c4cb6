#include "report/sample_report.h"

#include <fmt/format.h>

#include "report/build.h"
#include "report/sample_findings.h"
#include "report/sample_timeline.h"

namespace stallscope::sample {
namespace {

RankSummary gpu_rank(int32_t rank) {
  RankSummary r;
  r.rank = rank;
  r.pid = 4711 + rank;
  r.device = rank % 8;
  r.world_size = 2;
  r.host = rank % 16 < 8 ? "node-a" : "node-b";
  r.view = RankView::device;
  r.step_source = StepSource::named_range;
  r.step_marker = "train_step";
  const Ns slower = rank == 1 ? 140'000 : (rank * 7919) % 90'000;
  r.mean_breakdown.ns = {6'010'000, 1'540'000,        130'000, 2'900'000, 640'000,
                         520'000,   884'000 + slower, 36'000,  180'000};
  r.median_breakdown = r.mean_breakdown;
  r.step_median = r.mean_breakdown.total();
  r.step_low = r.step_median - 90'000;
  r.step_high = r.step_median + 120'000;
  Ns at = 0;
  uint32_t noise = 12345 + static_cast<uint32_t>(rank);
  for (uint32_t i = 0; i < 200; ++i) {
    noise = noise * 1664525U + 1013904223U;
    Step step;
    step.index = i;
    step.use = i == 0     ? StepUse::first
               : i == 199 ? StepUse::last
               : i < 15   ? StepUse::warm_up
                          : StepUse::used;
    Ns length = r.step_median + static_cast<Ns>(noise >> 16) * 6 - 190'000;
    if (i < 15) length += 9'000'000 / (i + 1);
    if (i == 77) length += 21'000'000;
    if (i == 140) length += 7'400'000;
    step.window_start = step.host_start = at;
    step.window_end = step.host_end = at += length;
    r.steps.push_back(step);
  }
  r.gpu = {2'590'000'000, 1'530'000'000, 1'210'000'000, 610'000'000,
           308'000'000,   26'000'000,    41'600,        2'400};
  r.startup = {{"import", 3'900'000'000},
               {"model-build", 36'200'000'000},
               {"compile", 8'400'000'000},
               {"first-batch", 610'000'000}};
  SlowStep checkpoint{77, r.step_median + 21'000'000, {}, "checkpoint"};
  checkpoint.difference[StepClass::host_work] = 20'300'000;
  checkpoint.difference[StepClass::exposed_copy] = 700'000;
  SlowStep collection{140, r.step_median + 7'400'000, {}, "garbage collection"};
  collection.difference[StepClass::host_work] = 7'900'000;
  collection.difference[StepClass::input_wait] = -500'000;
  r.slow_steps = {checkpoint, collection};
  r.kernels = {{"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
                "aten::linear",
                {"model/mlp.py", 31, 0, "MLP.forward", "python"},
                9600,
                812'000'000,
                84'000},
               {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)",
                "aten::scaled_dot_product_attention",
                {"model/attention.py", 71, 0, "Attention.forward", "python"},
                2400,
                232'000'000,
                96'600},
               {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)",
                "",
                {"trainer/parallel.cpp", 131, 0, "tp::reduce_gradients", "cpp"},
                2400,
                610'000'000,
                254'000},
               {"<img src=x onerror=alert(3)>", "", {}, 12, 90'000, 7'400}};
  r.observations = host_observations();
  r.representative = training_step(rank);
  r.peak_memory = 31'400'000'000ULL;
  r.health.events = 1'204'331;
  r.health.bytes_on_disk = 38'100'000;
  r.health.clock_source = "tsc";
  r.health.clock_residual_ns = 118;
  r.health.recorder_own_ns = 9'100'000;
  if (rank == 1) {
    r.health.lost_records = 12;
    r.health.warnings = {
        "12 records were dropped when the disk was busy; put --trace-dir on a local disk"};
  }
  return r;
}

ReportInput input_of(std::vector<RankSummary> ranks) {
  ReportInput input;
  input.run = {"2026-11-20T18-04-11-7f3a",
               "2026-11-20T18:04:11Z",
               {"torchrun", "--nproc-per-node=2", "train.py", "--config", "configs/gpt small.yaml"},
               0,
               false};
  input.inputs = {"stallscope-report/trace"};
  for (RankSummary& rank : ranks)
    for (int64_t sequence = 0; sequence < 12; ++sequence) {
      CollectiveShare& share = input.summary.collectives[{"tp", sequence}];
      const Ns duration = rank.rank == 1 ? 210'000 : 260'000 + sequence * 5'000;
      if (share.ranks == 0 || duration < share.shortest) {
        share.shortest = duration;
        share.shortest_rank = rank.rank;
      }
      share.total += duration;
      ++share.ranks;
      share.name = "all_reduce";
    }
  input.summary.ranks = std::move(ranks);
  input.environment = {{"cpu.model", "AMD EPYC 9654"},  {"gpu.name", "NVIDIA H100 80GB HBM3"},
                       {"driver.version", "550.54.15"}, {"cuda.version", "12.4"},
                       {"python.version", "3.11.9"},    {"torch.version", "2.5.1"},
                       {"os", "Debian GNU/Linux 12"}};
  return input;
}

}  // namespace

Report full() {
  ReportInput input = input_of({gpu_rank(0), gpu_rank(1)});
  input.findings = findings();
  input.rules = rules();
  input.overhead.own_fraction = 0.0038;
  input.replay_error = 0.021;
  return build_report(std::move(input));
}

Report many_ranks(int count) {
  std::vector<RankSummary> ranks;
  for (int32_t rank = 0; rank < count; ++rank) ranks.push_back(gpu_rank(rank));
  ReportInput input = input_of(std::move(ranks));
  input.findings = findings();
  input.rules = rules();
  return build_report(std::move(input));
}

Report abstaining() {
  RankSummary rank = gpu_rank(0);
  rank.abstentions = {
      "the trace holds launches but no device events: the profiler was started without device "
      "activity",
      "14 of 200 steps lie in a capture hole"};
  rank.gpu = {};
  rank.kernels.clear();
  rank.representative = {};
  rank.health.holes = {{1'200'000'000, 340'000'000, "another profiler took the device buffers"}};
  rank.health.repairs = {{"invalid UTF-8 replaced", 14}, {"truncated tail dropped", 1}};
  rank.health.cut_short = true;
  ReportInput input = input_of({rank});
  Finding seen = item_in_step();
  seen.status = FindingStatus::static_only;
  seen.gain.reset();
  seen.exemplars.clear();
  seen.ranks.clear();
  input.findings = {seen};
  input.rules = rules();
  Error missing;
  missing.message = "rank 1 left no files";
  missing.remedy = "Copy its folder next to rank 0's and run `stallscope report` again";
  missing.code = "rank-missing";
  input.errors = {missing};
  return build_report(std::move(input));
}

Report clean() {
  RankSummary rank = gpu_rank(-1);
  rank.view = RankView::host;
  rank.device = -1;
  rank.rank = -1;
  rank.world_size = 0;
  rank.gpu = {};
  rank.kernels.clear();
  rank.slow_steps.clear();
  rank.startup.clear();
  rank.peak_memory = 0;
  ReportInput input = input_of({});
  input.summary.ranks = {rank};
  input.rules = rules();
  for (RuleMeta& rule : input.rules)
    if (rule.outcome == RuleOutcome::fired) rule.outcome = RuleOutcome::passed;
  return build_report(std::move(input));
}

Report empty() {
  return build_report({});
}

}  // namespace stallscope::sample
