// A session's state in a file: parameters, both moments and the step, so that
// training goes on with the very bits it would have had.
#pragma once

#include <string>

#include "base/result.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/program/builder.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {

/// The file of one rank: `path` itself in a group of one, with ".rank-R-of-N" added otherwise.
std::string checkpoint_path(const std::string& path, int rank, int ranks);

/// Waits for the device, then writes parameters under their names and the moments under
/// "first_moment.NAME" and "second_moment.NAME".
Status save_checkpoint(const std::string& path, Session<float>& session);

/// Loads what one rank or any number of ranks saved under `path`, split anew for `shard`. Error,
/// and nothing changed, when a file or a tensor is missing or of another shape.
Status load_checkpoint(const std::string& path, Shard shard, Session<float>& session);

/// What an independent implementation needs to repeat a run: initial parameters and inputs, before
/// the first step; the first step's gradients; the losses; the parameters at the end.
class RunRecord {
 public:
  explicit RunRecord(Session<float>& session);
  void add_gradients();
  void add_loss(float loss) { losses_.push_back(loss); }
  /// Adds the final parameters and writes everything.
  Status write(const std::string& path);

 private:
  void add(const std::string& prefix, TensorId id, const void* data);
  Session<float>& session_;
  std::vector<std::vector<unsigned char>> copies_;
  std::vector<float> losses_;
  StoredTensors content_;
};

}  // namespace stallscope::trainer
