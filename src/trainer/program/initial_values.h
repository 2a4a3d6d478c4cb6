// Initial values of parameters: a function of seed, name and place in the whole
// tensor, so that every layout starts from the same model.
#pragma once

#include <cstdint>

#include "trainer/program/program.h"

namespace stallscope::trainer {

/// Fills the elements [begin, end) of this rank's part of the parameter.
template <typename T>
void fill_initial(T* values, const TensorInfo& parameter, int rank, uint64_t seed, size_t begin,
                  size_t end);

/// The place in the whole tensor of element `local` of rank `rank`'s part.
size_t place_in_whole(const TensorInfo& parameter, int rank, size_t local);

/// 64 random bits for (stream, counter).
uint64_t random_bits(uint64_t stream, uint64_t counter);
/// Uniform in [0, 1).
double random_uniform(uint64_t stream, uint64_t counter);

}  // namespace stallscope::trainer
