#include "report/sample_findings.h"

#include <fmt/format.h>

#include "report/sample_timeline.h"

namespace stallscope::sample {
namespace {

constexpr Ns kStep = 12'840'000;

uint64_t fnv1a(const std::string& text) {
  uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  return hash;
}

Finding finding(std::string rule, std::string title, Severity severity, Place place) {
  Finding f;
  f.rule_id = std::move(rule);
  f.title = std::move(title);
  f.severity = severity;
  f.status = FindingStatus::measured;
  f.locations = {std::move(place)};
  f.fingerprint = fmt::format("{:016x}", fnv1a(f.rule_id));
  f.ranks = {0, 1};
  return f;
}

void price(Finding& f, Ns low, Ns mid, Ns high, std::string confidence = "medium") {
  f.gain = Gain{Gain::Range{low, mid, high}, std::nullopt,
                static_cast<double>(mid) / static_cast<double>(kStep), "device idle charged to it",
                std::move(confidence)};
}

Finding hostile() {
  Finding f = finding("scalar-cast-in-step", "Keep <b>metrics</b> on the device", Severity::high,
                      {"data/</script><img src=x onerror=alert(1)>.py", 40, 5,
                       "<img src=x onerror=\"alert('xss')\">", "python"});
  f.message = "</script><script>alert(1)</script> & \"quotes\" \xE2\x80\xA8 \xE2\x80\xA9 \xff\xfe";
  price(f, 100'000, 410'000, 700'000, "low");
  f.evidence = {{"</td><td>bytes", 8, "bytes", 16.0}};
  f.snippet = {39, {"metrics = {}", "value = float(x)  # </script><!--", "]]> ::warning::"}};
  f.fix = {Applicability::display, "float(x) < y && y > z", "x"};
  f.exemplars = {sync_exemplar(0, 160'000, 60'000, "</text><image href=x onerror=alert(2)>")};
  return f;
}

}  // namespace

Finding item_in_step() {
  Finding f =
      finding("item-in-step", "Read the loss back every log interval, not every step",
              Severity::critical, {"trainer/loop.py", 212, 21, "Trainer.train_step", "python"});
  f.message = "loss.item() copies 4 bytes to the host and waits for the whole forward pass.";
  price(f, 1'900'000, 2'730'000, 3'400'000, "high");
  f.subject = "cudaStreamSynchronize";
  f.cause = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn";
  f.evidence = {{"bytes copied", 4, "bytes", 16.0},
                {"blocking calls", 1, "per step", 1.0},
                {"host blocked", 4'210'000, "ns", std::nullopt},
                {"device idle after it", 2'730'000, "ns", 50'000.0},
                {"steps affected", 184, "of 184", std::nullopt}};
  f.snippet = {208,
               {"    def train_step(self, batch):", "        logits = self.model(batch.tokens)",
                "        loss = self.criterion(logits, batch.targets)",
                "        # running mean for the progress bar", "        self.total += loss.item()",
                "        loss.backward()", "        self.optimizer.step()"}};
  f.fix = {Applicability::suggestion, "self.total += loss.item()",
           "self.total += loss.detach()\nif self.step % self.log_every == 0:\n"
           "    self.log(self.total.item() / self.log_every)"};
  f.stack = {{"trainer/loop.py", 212, 0, "Trainer.train_step", "python"},
             {"trainer/loop.py", 171, 0, "Trainer.fit", "python"},
             {"train.py", 64, 0, "main", "python"}};
  f.context_chain = {"called from Trainer.fit() line 171", "in the loop at line 168"};
  f.exemplars = {sync_exemplar(0, 210'000, 190'000, "cudaStreamSynchronize"),
                 sync_exemplar(1, 180'000, 160'000, "cudaStreamSynchronize")};
  f.confidence = "proven";
  f.related = {"explicit-sync"};
  return f;
}

std::vector<Finding> findings() {
  std::vector<Finding> out;
  out.push_back(hostile());
  out.push_back(item_in_step());

  Finding burst =
      finding("many-small-collectives", "Put the gradients of one bucket into one all-reduce",
              Severity::high, {"trainer/parallel.cpp", 131, 7, "tp::reduce_gradients", "cpp"});
  burst.message = "40 all-reduces of 16 KiB each run one after the other where one would do.";
  price(burst, 600'000, 1'120'000, 1'300'000);
  burst.gain->method = "replay: coalesce-collectives";
  burst.evidence = {{"collectives in the burst", 40, "per step", 8.0},
                    {"bytes each", 16384, "bytes", 65536.0},
                    {"exposed time", 1'240'000, "ns", std::nullopt}};
  burst.snippet = {
      129,
      {"for (auto& parameter : parameters) {", "  // sums over the tensor-parallel group",
       "  comm.all_reduce(parameter.grad());", "}"}};
  burst.fix = {
      Applicability::suggestion, "for (auto& p : parameters) comm.all_reduce(p.grad());",
      "bucket.gather(parameters);\ncomm.all_reduce(bucket.span());\nbucket.scatter(parameters);"};
  burst.exemplars = {burst_exemplar(0)};
  out.push_back(burst);

  Finding input = finding("no-prefetch", "Fetch the next batch before the backward pass",
                          Severity::medium, {"trainer/loop.py", 169, 9, "Trainer.fit", "python"});
  input.message = "The device waits at the start of each step for the batch.";
  input.library_line = "loaders/fetch.py:88 (Fetcher.next)";
  price(input, 300'000, 880'000, 905'000);
  input.ranks = {1};
  input.evidence = {{"wait for input", 884'000, "ns", 200'000.0}};
  input.snippet = {168,
                   {"for epoch in range(epochs):", "    for batch in loader:",
                    "        self.train_step(batch)"}};
  out.push_back(input);

  Finding mask = finding("mask-recreated", "Keep the causal mask in a buffer", Severity::medium,
                         {"model/attention.py", 58, 16, "Attention.forward", "python"});
  mask.message = "triu(ones(1024, 1024)) is built again in each of 12 layers.";
  price(mask, 150'000, 310'000, 310'000, "high");
  mask.snippet = {
      57, {"def forward(self, x):", "    mask = torch.triu(torch.ones(t, t, device=x.device), 1)"}};
  mask.fix = {Applicability::safe, "mask = torch.triu(torch.ones(t, t, device=x.device), 1)",
              "mask = self.mask[:t, :t]"};
  out.push_back(mask);

  Finding late =
      finding("rank0-compute-broadcast", "Compute on every rank's share instead of on rank 0",
              Severity::medium, {"trainer/parallel.cpp", 77, 3, "tp::sample_indices", "cpp"});
  late.status = FindingStatus::measured;
  price(late, 0, 200'000, 260'000, "low");
  out.push_back(late);

  Finding fallback = finding("host-sync", "Find out what this call waits for", Severity::low,
                             {"", 0, 0, "at::native::nonzero_out_cuda", "cpp"});
  fallback.message = "aten::nonzero blocks the host; no line of your own code is on its stack.";
  price(fallback, 0, 40'000, 60'000, "low");
  out.push_back(fallback);

  Finding start = finding("tree-rewrite-in-loop", "Collect the changes and rewrite the tree once",
                          Severity::high, {"model/surgery.py", 24, 9, "replace_layers", "python"});
  start.message = "tree_at copies the whole model for each of 412 layers before the first step.";
  start.gain = Gain{std::nullopt, 33'900'000'000, std::nullopt, "host time of the loop", "high"};
  start.snippet = {
      23, {"for layer in layers:", "    model = eqx.tree_at(layer, model, replace_fn=quantise)"}};
  out.push_back(start);

  Finding stat =
      finding("device-to-host-in-step", "Copy the metrics once per log interval", Severity::medium,
              {"trainer/metrics.py", 33, 12, "Metrics.update", "python"});
  stat.status = FindingStatus::not_seen;
  stat.confidence = "likely";
  stat.message = "The recording cannot tell whether this line ran.";
  stat.ranks = {};
  out.push_back(stat);

  Finding advice = finding("loader-no-pin", "Give the loader pinned memory", Severity::info,
                           {"train.py", 31, 14, "main", "python"});
  advice.status = FindingStatus::static_only;
  advice.advice = true;
  advice.ranks = {};
  out.push_back(advice);
  return out;
}

std::vector<RuleMeta> rules() {
  const auto meta = [](const char* id, const char* title, RuleOutcome outcome,
                       const char* reason = "") {
    return RuleMeta{id, title, "", Severity::medium, false, outcome, reason};
  };
  std::vector<RuleMeta> out = {
      meta("item-in-step", "Read the loss back every log interval, not every step",
           RuleOutcome::fired),
      meta("scalar-cast-in-step", "Keep metrics on the device", RuleOutcome::fired),
      meta("many-small-collectives", "Put small collectives into one", RuleOutcome::fired),
      meta("no-prefetch", "Fetch the next batch before the backward pass", RuleOutcome::fired),
      meta("mask-recreated", "Keep the mask in a buffer", RuleOutcome::fired),
      meta("tree-rewrite-in-loop", "Collect the changes and rewrite the tree once",
           RuleOutcome::fired),
      meta("gc-in-step", "Do not collect garbage in a step", RuleOutcome::passed),
      meta("empty-cache-in-step", "Do not empty the cache in a step", RuleOutcome::passed),
      meta("sort-for-topk", "Use topk instead of a sort", RuleOutcome::passed),
      meta("data-parallel", "Use DistributedDataParallel", RuleOutcome::not_applicable,
           "the program does not use torch.nn"),
      meta("jax-host-read-in-step", "Read one step late", RuleOutcome::not_applicable,
           "the program does not use JAX"),
      meta("graph-break", "Keep Python out of compiled code", RuleOutcome::could_not_run,
           "needs compile events, which the recording does not hold"),
  };
  out[0].why =
      "Reading one element copies it to the host and waits for everything queued before it. While "
      "the "
      "host waits it launches nothing, so the device runs dry.";
  out[2].why = "Each collective pays a latency of its own, whatever its size.";
  return out;
}

}  // namespace stallscope::sample
