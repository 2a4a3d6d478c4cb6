// What each kind of op does: its kernel's name, its work, and its run on the CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/device/timing.h"
#include "trainer/kernels/table.h"
#include "trainer/program/program.h"

namespace stallscope::trainer {

/// What running an op needs: where each tensor lies, and how many threads to use.
template <typename T>
struct Bindings {
  std::vector<T*> real;                 ///< by TensorId; null for index tensors
  std::vector<int32_t*> index;          ///< by TensorId; null for real tensors
  std::vector<void*> memory;            ///< by TensorId; of any element
  uint16_t* half_parameters = nullptr;  ///< the parameters' arena in bf16, if products read it
  int team = 1;
  T* scratch = nullptr;  ///< team * scratch_of() elements of the op that needs most

  T* at(TensorId id) const { return id == kNoTensor ? nullptr : real[id]; }
  int32_t* index_at(TensorId id) const { return id == kNoTensor ? nullptr : index[id]; }
  Numbers<T> numbers_at(TensorId id) const {
    if (id == kNoTensor || real[id] != nullptr || index[id] != nullptr) return {at(id), nullptr};
    return {nullptr, static_cast<uint16_t*>(memory[id])};
  }
};

/// The name of the op's kernel in recordings. Lives as long as the op.
const char* kernel_name(const Op& op);

/// FLOP and bytes moved, for an element of `element_bytes`.
Work work_of(const Program& program, const Op& op, size_t element_bytes);

/// Elements of scratch memory that each thread of the team needs for the op.
template <typename T>
size_t scratch_of(const Op& op);

/// Runs an op other than the collectives and the optimiser, which the session runs itself.
template <typename T>
void run_op(const Op& op, const Bindings<T>& bindings);

}  // namespace stallscope::trainer
