#include "trainer/program/initial_values.h"

#include <cmath>
#include <numbers>

namespace stallscope::trainer {
namespace {

// FNV-1a, so that a tensor's values depend on its name and on nothing built before it.
uint64_t hash_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const unsigned char c : name) hash = (hash ^ c) * 0x100000001b3ULL;
  return hash;
}

// splitmix64's finaliser.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t random_bits(uint64_t stream, uint64_t counter) {
  return mix(mix(stream + 0x9e3779b97f4a7c15ULL) + counter * 0x9e3779b97f4a7c15ULL);
}

double random_uniform(uint64_t stream, uint64_t counter) {
  return static_cast<double>(random_bits(stream, counter) >> 11) * 0x1p-53;
}

size_t place_in_whole(const TensorInfo& parameter, int rank, size_t local) {
  if (parameter.shard_dimension < 0) return local;
  size_t inner = 1;
  const auto dimension = static_cast<size_t>(parameter.shard_dimension);
  for (size_t d = dimension + 1; d < parameter.shape.size(); ++d) inner *= parameter.shape[d];
  const size_t part = parameter.shape[dimension] * inner;
  const size_t whole = parameter.full_shape[dimension] * inner;
  return local / part * whole + static_cast<size_t>(rank) * part + local % part;
}

template <typename T>
void fill_initial(T* values, const TensorInfo& parameter, int rank, uint64_t seed, size_t begin,
                  size_t end) {
  const uint64_t stream = seed ^ hash_of(parameter.name);
  for (size_t i = begin; i < end; ++i) {
    const uint64_t at = place_in_whole(parameter, rank, i);
    double value = 0;
    switch (parameter.init.kind) {
      case Init::Kind::zeros:
        break;
      case Init::Kind::ones:
        value = 1;
        break;
      case Init::Kind::constant:
        value = parameter.init.scale;
        break;
      case Init::Kind::uniform:
        value = (2 * random_uniform(stream, at) - 1) * parameter.init.scale;
        break;
      case Init::Kind::normal: {  // Box and Muller
        const double u = 1 - random_uniform(stream, 2 * at);
        const double angle = 2 * std::numbers::pi * random_uniform(stream, 2 * at + 1);
        value = std::sqrt(-2 * std::log(u)) * std::cos(angle) * parameter.init.scale;
        break;
      }
    }
    values[i] = static_cast<T>(value);
  }
}

template void fill_initial<float>(float*, const TensorInfo&, int, uint64_t, size_t, size_t);
template void fill_initial<double>(double*, const TensorInfo&, int, uint64_t, size_t, size_t);

}  // namespace stallscope::trainer
