// A small cross-layer transcoder ready to train on a GPT's activations, for
// programs that write their own loop.
#pragma once

#include <string>
#include <vector>

#include "collect/annotate.h"
#include "trainer/device/collectives.h"
#include "trainer/device/device.h"
#include "trainer/loop/activations.h"
#include "trainer/loop/pinned_pool.h"
#include "trainer/loop/ranks.h"
#include "trainer/models/clt.h"
#include "trainer/ops/eager.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {

struct CltRunOptions {
  CltConfig model{};
  std::string text;      ///< path of the text the GPT reads
  TimingModel timing{};  ///< the modelled device
};

class CltRun {
 public:
  /// Ends the process with a message when the model or the activations cannot be had.
  CltRun(Rank& rank, const CltRunOptions& options);

  /// Copies the batch of step `step` to the device through pinned memory, without waiting.
  void upload(int step);
  /// Waits for all work and reports what went wrong, if anything: the exit code.
  /// Rank 0 prints "loss X" as its last line.
  int finish();

  Rank& rank;
  Device device;
  Group group;
  Session<float> session;
  AdamOptions adam{.rate = 2e-3, .decay = 0};

 private:
  CltConfig model_;
  Activations activations_;
  PinnedPool<float> inputs_, targets_;
  std::vector<float> staged_;
};

}  // namespace stallscope::trainer
