// What every backend must give, whatever carries the bytes. Returns "" or what is wrong.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace stallscope::comm {

template <typename T>
std::string check_type(Communicator& c, size_t count, const char* type) {
  const auto size = static_cast<size_t>(c.size());
  const auto rank = static_cast<size_t>(c.rank());
  const std::string at = std::string(type) + " x " + std::to_string(count) + ": ";
  auto value = [](size_t r, size_t i) { return static_cast<T>((r * 7 + i * 3) % 100); };

  std::vector<T> data(count);
  for (size_t i = 0; i < count; ++i) data[i] = value(rank, i);
  if (Status s = c.all_reduce<T>(data); !s.ok()) return s.error().to_string();
  for (size_t i = 0; i < count; ++i) {
    T want = value(0, i);
    for (size_t r = 1; r < size; ++r) want = static_cast<T>(want + value(r, i));
    if (data[i] != want) return at + "all_reduce sum differs at " + std::to_string(i);
  }

  for (size_t i = 0; i < count; ++i) data[i] = value(rank, i);
  if (Status s = c.all_reduce<T>(data, ReduceOp::max); !s.ok()) return s.error().to_string();
  for (size_t i = 0; i < count; ++i) {
    T want = value(0, i);
    for (size_t r = 1; r < size; ++r) want = std::max(want, value(r, i));
    if (data[i] != want) return at + "all_reduce max differs at " + std::to_string(i);
  }

  std::vector<T> parts(count * size), part(count);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = value(rank, i);
  if (Status s = c.reduce_scatter<T>(std::span<const T>(parts), part); !s.ok())
    return s.error().to_string();
  for (size_t i = 0; i < count; ++i) {
    T want = value(0, rank * count + i);
    for (size_t r = 1; r < size; ++r) want = static_cast<T>(want + value(r, rank * count + i));
    if (part[i] != want) return at + "reduce_scatter differs at " + std::to_string(i);
  }

  for (size_t i = 0; i < count; ++i) part[i] = value(rank, i);
  if (Status s = c.all_gather<T>(std::span<const T>(part), parts); !s.ok())
    return s.error().to_string();
  for (size_t r = 0; r < size; ++r) {
    for (size_t i = 0; i < count; ++i)
      if (parts[r * count + i] != value(r, i)) return at + "all_gather differs";
  }

  const size_t root = size - 1;
  for (size_t i = 0; i < count; ++i) part[i] = value(rank, i);
  if (Status s = c.broadcast<T>(part, static_cast<int>(root)); !s.ok())
    return s.error().to_string();
  for (size_t i = 0; i < count; ++i)
    if (part[i] != value(root, i)) return at + "broadcast differs";
  return c.barrier().ok() ? "" : at + "barrier failed";
}

/// Groups of every second rank, twice over: each sums its own ranks alone.
inline std::string check_split(Communicator& c) {
  for (const int colours : {2, 1}) {
    const int colour = c.rank() % colours;
    auto group = c.split(colour);
    if (!group.ok()) return group.error().to_string();
    int64_t want = 0, members = 0;
    for (int r = colour; r < c.size(); r += colours, ++members) want += r;
    if ((*group)->size() != members || (*group)->rank() != c.rank() / colours)
      return "split: rank " + std::to_string((*group)->rank()) + " of " +
             std::to_string((*group)->size());
    for (int repeat = 0; repeat < 3; ++repeat) {
      int64_t sum = c.rank();
      if (Status s = (*group)->all_reduce<int64_t>(std::span(&sum, 1)); !s.ok())
        return s.error().to_string();
      if (sum != want) return "split: the sum differs";
    }
  }
  return "";
}

/// Every collective, every type, sizes below, at and above a chunk.
inline std::string check_all(Communicator& c) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{17}, size_t{4096}, size_t{100'003}}) {
    for (const std::string& wrong :
         {check_type<float>(c, count, "f32"), check_type<double>(c, count, "f64"),
          check_type<int32_t>(c, count, "i32"), check_type<int64_t>(c, count, "i64"),
          check_type<uint8_t>(c, count, "u8")}) {
      if (!wrong.empty()) return "rank " + std::to_string(c.rank()) + ": " + wrong;
    }
  }
  const std::string wrong = check_split(c);
  return wrong.empty() ? "" : "rank " + std::to_string(c.rank()) + ": " + wrong;
}

}  // namespace stallscope::comm
