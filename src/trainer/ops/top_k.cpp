#include "trainer/ops/top_k.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "trainer/kernels/table.h"
#include "trainer/ops/team.h"

namespace stallscope::trainer {
namespace {

constexpr int kShift[kTopKRounds] = {21, 10, 0};
constexpr int kBits[kTopKRounds] = {11, 11, 10};

template <typename T>
uint32_t key_at(const TopK<T>& it, size_t layer, size_t row, size_t feature) {
  const size_t statistic = layer * it.features + feature;
  const T value = it.pre[(layer * it.batch + row) * it.features + feature];
  return order_key(static_cast<float>((value - it.mean[statistic]) * it.scale[statistic]));
}

template <typename T>
size_t first_row(const TopK<T>& it, size_t piece) {
  return it.layers * it.batch * piece / kSurvivorPieces;
}

template <typename T>
int32_t* survivor_keys(const TopK<T>& it, size_t piece) {
  return it.survivors + kSurvivorPieces + piece * 2 * it.room;
}

// body(place, key) for the rows [begin, end) of all layers, in memory order.
template <typename T, typename Body>
void for_each_key_of(const TopK<T>& it, size_t begin, size_t end, const Body& body) {
  for (size_t r = begin; r < end; ++r)
    for (size_t feature = 0; feature < it.features; ++feature)
      body(r * it.features + feature, key_at(it, r / it.batch, r % it.batch, feature));
}

// The same for the elements of a piece that may be among the k largest.
template <typename T, typename Body>
void for_each_key_in(const TopK<T>& it, size_t piece, const Body& body) {
  const size_t begin = first_row(it, piece), end = first_row(it, piece + 1);
  if (it.survivors == nullptr || it.state[3] == 0) return for_each_key_of(it, begin, end, body);
  if (it.survivors[piece] < 0) {
    const auto lowest = std::bit_cast<uint32_t>(it.state[2]);
    return for_each_key_of(it, begin, end, [&](size_t place, uint32_t key) {
      if (key >= lowest) body(place, key);
    });
  }
  const int32_t* const keys = survivor_keys(it, piece);
  const int32_t* const places = keys + it.room;
  for (int32_t i = 0; i < it.survivors[piece]; ++i)
    body(static_cast<size_t>(places[i]), std::bit_cast<uint32_t>(keys[i]));
}

// The same piece by piece.
template <typename T, typename Body>
void for_each_key(const TopK<T>& it, const Body& body) {
  for (size_t piece = 0; piece < kSurvivorPieces; ++piece) for_each_key_in(it, piece, body);
}

// body(piece) on the team's threads.
template <typename T, typename Body>
void for_each_piece(const TopK<T>& it, const Body& body) {
  for_rows(it.team, kSurvivorPieces, 1, [&](size_t begin, size_t end) {
    for (size_t piece = begin; piece < end; ++piece) body(piece);
  });
}

void add_to(int32_t& count, int32_t n) {
  if (n != 0) std::atomic_ref<int32_t>(count).fetch_add(n, std::memory_order_relaxed);
}

// The 64 elements from `x` on.
template <typename T>
void fetch_ahead(const T* x) {
  for (size_t i = 0; i < 64; i += 64 / sizeof(T)) __builtin_prefetch(x + i);
}

// Collects the survivors of one piece; returns how many, or more than there is room for.
template <typename T>
size_t collect(const TopK<T>& it, size_t piece, T threshold) {
  constexpr size_t kRows = 4;  // share the loads of their features' statistics
  thread_local std::vector<uint64_t> bits;
  const size_t words = (it.features + 63) / 64;
  bits.resize(std::max(bits.size(), kRows * words));
  int32_t* const keys = survivor_keys(it, piece);
  int32_t* const places = keys + it.room;
  size_t found = 0;
  for (size_t r = first_row(it, piece), next = r; r < first_row(it, piece + 1); r = next) {
    const size_t layer = r / it.batch, statistic = layer * it.features;
    next = std::min({r + kRows, first_row(it, piece + 1), (layer + 1) * it.batch});
    kernels<T>().find_above(bits.data(), it.pre + r * it.features, next - r, it.features,
                            it.mean + statistic, it.scale + statistic, threshold);
    for (size_t word = 0; word < (next - r) * words; ++word) {
      // Meanwhile the first part of the next rows arrives.
      if (word % words < words / 4)
        fetch_ahead(it.pre + (next + word / words) * it.features + word % words * 64);
      for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
        if (found == it.room) return found + 1;
        const size_t feature = word % words * 64 + static_cast<size_t>(std::countr_zero(left));
        const size_t row = r + word / words;
        keys[found] = std::bit_cast<int32_t>(key_at(it, layer, row - layer * it.batch, feature));
        places[found++] = static_cast<int32_t>(row * it.features + feature);
      }
    }
  }
  return found;
}

template <typename T>
T scale_of(T squares, size_t batch) {
  const auto freedom = static_cast<T>(batch > 1 ? batch - 1 : 1);
  return T(1) / (std::sqrt(squares / freedom) + static_cast<T>(1e-6));
}

// The sample's histogram is linear: all it has to give is a threshold to start from.
constexpr double kLowestScore = -16, kBinsPerScore = 64;
constexpr size_t kSampledRun = 64, kSampleStride = 512;

// The first run of elements of a row that the sample holds, of every `step`.
size_t first_sampled(size_t row, size_t step) {
  return (step - 37 * row % step) % step;
}

}  // namespace

uint32_t order_key(float value) {
  if (std::isnan(value)) return 0;
  const auto bits = std::bit_cast<uint32_t>(value == 0 ? 0.0F : value);  // -0 equals 0
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

template <typename T>
void top_k_statistics(const TopK<T>& it, bool is_part) {
  constexpr size_t kColumns = 256;
  for (size_t layer = 0; layer < it.layers; ++layer) {
    const size_t at = layer * it.features;
    for_rows(it.team, it.features, kColumns, [&](size_t begin, size_t end) {
      kernels<T>().feature_statistics(it.mean + at, it.scale + at, it.pre + at * it.batch, it.batch,
                                      it.features, begin, end);
      if (is_part) return;
      for (size_t f = begin; f < end; ++f) it.scale[at + f] = scale_of(it.scale[at + f], it.batch);
    });
  }
}

template <typename T>
void merge_statistics(const T* all, size_t parts, size_t batch, size_t features, T* mean,
                      T* scale) {
  for (size_t f = 0; f < features; ++f) {
    T sum = 0, squares = 0;
    for (size_t part = 0; part < parts; ++part) sum += all[2 * part * features + f];
    mean[f] = sum / static_cast<T>(parts);
    for (size_t part = 0; part < parts; ++part) {
      const T off = all[2 * part * features + f] - mean[f];
      squares += all[(2 * part + 1) * features + f] + off * off * static_cast<T>(batch);
    }
    scale[f] = scale_of(squares, parts * batch);
  }
}

template <typename T>
void top_k_sample(const TopK<T>& it) {
  std::fill_n(it.counts, kTopKBins, 0);
  const size_t elements = it.layers * it.batch * it.features;
  const size_t step = elements < kTopKBins * kSampleStride ? 1 : kSampleStride;
  for_each_piece(it, [&](size_t piece) {
    int32_t own[kTopKBins] = {};
    for (size_t r = first_row(it, piece); r < first_row(it, piece + 1); ++r) {
      const T* const row = it.pre + r * it.features;
      const size_t statistic = r / it.batch * it.features;
      for (size_t run = first_sampled(r, step); run * kSampledRun < it.features; run += step) {
        const size_t end = std::min((run + 1) * kSampledRun, it.features);
        for (size_t f = run * kSampledRun; f < end; ++f) {
          const auto score =
              static_cast<double>((row[f] - it.mean[statistic + f]) * it.scale[statistic + f]);
          if (std::isnan(score)) continue;
          const double bin = (score - kLowestScore) * kBinsPerScore;
          ++own[static_cast<size_t>(std::clamp(bin, 0.0, kTopKBins - 1.0))];
        }
      }
    }
    for (size_t bin = 0; bin < kTopKBins; ++bin) add_to(it.counts[bin], own[bin]);
  });
}

template <typename T>
void top_k_survivors(const TopK<T>& it, size_t k, size_t total) {
  int64_t sampled = 0;
  for (size_t bin = 0; bin < kTopKBins; ++bin) sampled += it.counts[bin];
  const double share = std::min(static_cast<double>(sampled) / static_cast<double>(total), 1.0);
  const double expected = static_cast<double>(k) * share;
  const double wanted = share < 1 ? 1.02 * expected + 4 * std::sqrt(expected) + 4 : expected;
  double passing = 0;
  size_t bin = kTopKBins;
  while (bin > 0 && passing < wanted) passing += it.counts[--bin];
  const double lowest = bin == 0 ? -std::numeric_limits<double>::infinity()
                                 : kLowestScore + static_cast<double>(bin) / kBinsPerScore;
  const auto threshold = static_cast<T>(lowest);
  std::fill_n(it.counts, kTopKBins, 0);
  const uint32_t lowest_key = order_key(static_cast<float>(threshold));
  it.state[2] = std::bit_cast<int32_t>(lowest_key);
  for_each_piece(it, [&](size_t piece) {
    const size_t found = collect(it, piece, threshold);
    it.survivors[piece] = found > it.room ? -1 : static_cast<int32_t>(found);
    auto survive = static_cast<int32_t>(found);
    if (found > it.room) {
      survive = 0;
      for_each_key_of(it, first_row(it, piece), first_row(it, piece + 1),
                      [&](size_t, uint32_t key) { survive += key >= lowest_key ? 1 : 0; });
    }
    add_to(it.counts[0], survive);
  });
}

template <typename T>
void top_k_enough(const TopK<T>& it, size_t k) {
  it.state[3] = static_cast<size_t>(it.counts[0]) >= k ? 1 : 0;
}

template <typename T>
void top_k_histogram(const TopK<T>& it, int round) {
  std::fill_n(it.counts, kTopKBins, 0);
  const auto threshold = std::bit_cast<uint32_t>(it.state[0]);
  const int above = kShift[round] + kBits[round];
  const uint32_t bins = (1U << kBits[round]) - 1;
  for_each_piece(it, [&](size_t piece) {
    int32_t own[kTopKBins] = {};
    for_each_key_in(it, piece, [&](size_t, uint32_t key) {
      if (round == 0 || key >> above == threshold >> above) ++own[(key >> kShift[round]) & bins];
    });
    for (size_t bin = 0; bin < kTopKBins; ++bin) add_to(it.counts[bin], own[bin]);
  });
}

void top_k_pick(int32_t* state, const int32_t* counts, int round, int32_t k) {
  int32_t left = round == 0 ? k : state[1];
  uint32_t bin = (1U << kBits[round]) - 1;
  while (bin > 0 && counts[bin] < left) left -= counts[bin--];
  const auto threshold = round == 0 ? 0U : std::bit_cast<uint32_t>(state[0]);
  state[0] = std::bit_cast<int32_t>(threshold | bin << kShift[round]);
  state[1] = left;
}

template <typename T>
void top_k_ties(const TopK<T>& it, size_t rank) {
  std::fill_n(it.counts, kTopKBins, 0);
  const auto threshold = std::bit_cast<uint32_t>(it.state[0]);
  for_each_piece(it, [&](size_t piece) {
    int32_t own = 0;
    for_each_key_in(it, piece, [&](size_t, uint32_t key) { own += key == threshold ? 1 : 0; });
    add_to(it.counts[rank], own);
  });
}

template <typename T>
void top_k_mask(const TopK<T>& it, size_t rank) {
  const auto threshold = std::bit_cast<uint32_t>(it.state[0]);
  int64_t left = it.state[1];
  for (size_t r = 0; r < rank; ++r) left -= it.counts[r];
  struct Tie {
    size_t feature, layer, row;
  };
  std::vector<Tie> ties;
  for_each_key(it, [&](size_t place, uint32_t key) {
    it.mask[place] = key > threshold ? T(1) : T(0);
    const size_t row = place / it.features;
    if (key == threshold) ties.push_back({place % it.features, row / it.batch, row % it.batch});
  });
  std::ranges::stable_sort(ties, [](const Tie& a, const Tie& b) {
    return a.feature != b.feature ? a.feature < b.feature : a.layer < b.layer;
  });
  for (size_t i = 0; i < ties.size() && static_cast<int64_t>(i) < left; ++i)
    it.mask[(ties[i].layer * it.batch + ties[i].row) * it.features + ties[i].feature] = T(1);
}

template <typename T>
void top_k_list(const TopK<T>& it, size_t rank, const SparseList<T>& list) {
  const auto threshold = std::bit_cast<uint32_t>(it.state[0]);
  int64_t left = it.state[1];
  for (size_t r = 0; r < rank; ++r) left -= it.counts[r];
  left = std::max<int64_t>(left, 0);
  // Ties are taken in the order (feature, layer, row), up to `last` of feature `last_feature`.
  size_t last_feature = it.features, last = 0;
  if (left < it.counts[rank]) {
    int32_t* const ties = list.column_start;
    std::fill_n(ties, it.features, 0);
    for_each_key(it, [&](size_t place, uint32_t key) {
      if (key == threshold) ++ties[place % it.features];
    });
    for (last_feature = 0; left >= ties[last_feature]; ++last_feature) left -= ties[last_feature];
    for (; left > 0; ++last)
      if (key_at(it, last / it.batch, last % it.batch, last_feature) == threshold) --left;
  }
  auto is_kept = [&](size_t row, size_t feature, uint32_t key) {
    return key > threshold || (key == threshold &&
                               (feature < last_feature || (feature == last_feature && row < last)));
  };
  size_t first_entry[kSurvivorPieces + 1] = {};
  for_each_piece(it, [&](size_t piece) {
    size_t kept = 0;
    for_each_key_in(it, piece, [&](size_t place, uint32_t key) {
      const size_t row = place / it.features;
      kept += is_kept(row, place - row * it.features, key) ? 1 : 0;
    });
    first_entry[piece + 1] = kept;
  });
  for (size_t piece = 0; piece < kSurvivorPieces; ++piece)
    first_entry[piece + 1] += first_entry[piece];
  for_each_piece(it, [&](size_t piece) {
    size_t entry = first_entry[piece], next_row = first_row(it, piece);
    for_each_key_in(it, piece, [&](size_t place, uint32_t key) {
      const size_t row = place / it.features, feature = place - row * it.features;
      if (!is_kept(row, feature, key)) return;
      while (next_row <= row) list.row_start[next_row++] = static_cast<int32_t>(entry);
      list.feature[entry] = static_cast<int32_t>(feature);
      list.row[entry++] = static_cast<int32_t>(place);  // until the reverse index fills it
    });
    while (next_row < first_row(it, piece + 1))
      list.row_start[next_row++] = static_cast<int32_t>(entry);
    // The values lie far apart in memory.
    constexpr size_t kAhead = 24;
    const int32_t* const places = list.row;
    for (size_t e = first_entry[piece]; e < entry; ++e) {
      if (e + kAhead < entry) __builtin_prefetch(it.pre + places[e + kAhead]);
      list.value[e] = it.pre[places[e]];
    }
  });
  list.row_start[it.layers * it.batch] = static_cast<int32_t>(first_entry[kSurvivorPieces]);
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define STALLSCOPE_TOP_K(T)                                                    \
  template void top_k_statistics<T>(const TopK<T>&, bool);                     \
  template void merge_statistics<T>(const T*, size_t, size_t, size_t, T*, T*); \
  template void top_k_histogram<T>(const TopK<T>&, int);                       \
  template void top_k_ties<T>(const TopK<T>&, size_t);                         \
  template void top_k_mask<T>(const TopK<T>&, size_t);                         \
  template void top_k_sample<T>(const TopK<T>&);                               \
  template void top_k_survivors<T>(const TopK<T>&, size_t, size_t);            \
  template void top_k_enough<T>(const TopK<T>&, size_t);                       \
  template void top_k_list<T>(const TopK<T>&, size_t, const SparseList<T>&);
STALLSCOPE_TOP_K(float)
STALLSCOPE_TOP_K(double)
#undef STALLSCOPE_TOP_K
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace stallscope::trainer
