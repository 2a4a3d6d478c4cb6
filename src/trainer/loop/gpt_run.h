// A small GPT ready to train: device, session, text and staging, for programs
// that write their own loop.
#pragma once

#include <memory>
#include <string>

#include "collect/annotate.h"
#include "trainer/data/text.h"
#include "trainer/device/collectives.h"
#include "trainer/device/device.h"
#include "trainer/loop/pinned_pool.h"
#include "trainer/loop/ranks.h"
#include "trainer/models/gpt.h"
#include "trainer/ops/eager.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {

/// How the ranks of a run share the work.
enum class Parallel : uint8_t { tensor, data };

struct GptRunOptions {
  GptConfig model{
      .layers = 2, .hidden = 32, .heads = 4, .vocabulary = 128, .sequence = 32, .batch = 4};
  Parallel parallel = Parallel::tensor;
  std::string text;            ///< path of the training text
  size_t prefetch = 2;         ///< batches prepared ahead; 0 = when asked for
  size_t workers = 1;          ///< threads that prepare them
  Ns preparation = 7'000'000;  ///< of a batch, on the loader's thread
  TimingModel timing{};        ///< the modelled device
};

/// The parts of a run; public because the program composes them.
class GptRun {
 public:
  /// Ends the process with a message when the model or the text cannot be had.
  GptRun(Rank& rank, const GptRunOptions& options);

  /// Copies a batch to the device through pinned memory, without waiting.
  void upload(const Batch& batch);
  /// Waits for all work and reports what went wrong, if anything: the exit code.
  /// Rank 0 prints "loss X" as its last line.
  int finish();

  Rank& rank;
  Device device;
  Group group;
  Session<float> session;
  TextLoader loader;
  AdamOptions adam;

 private:
  PinnedPool<int32_t> tokens_, labels_;
};

}  // namespace stallscope::trainer
