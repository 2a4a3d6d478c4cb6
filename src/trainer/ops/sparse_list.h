// SparseList: the active features of a batch as a list of entries, by row and by
// feature. Entries are in the order (layer, row, feature), so that sums over them
// are taken in one order whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stallscope::trainer {

struct SparseShape {
  size_t layers, batch, features;  ///< features of this rank, per layer
  size_t room;                     ///< entries at most

  size_t rows() const { return layers * batch; }
  size_t columns() const { return layers * features; }
  /// int32 elements of a list's numbers.
  size_t numbers() const { return rows() + 1 + columns() + 1 + 3 * room; }
};

template <typename T>
struct SparseList {
  SparseList(const SparseShape& of, int32_t* numbers, T* values)
      : shape(of),
        row_start(numbers),
        column_start(row_start + of.rows() + 1),
        feature(column_start + of.columns() + 1),
        row(feature + of.room),
        entry(row + of.room),
        value(values) {}

  SparseShape shape;
  int32_t* row_start;     ///< [layers * batch + 1]: the entries of each row of each layer
  int32_t* column_start;  ///< [layers * features + 1]: places in `entry` of each feature's
  int32_t* feature;       ///< by entry
  int32_t* row;           ///< by entry, within the layer
  int32_t* entry;         ///< entries by (layer, feature, row)
  T* value;               ///< by entry

  size_t size() const { return static_cast<size_t>(row_start[shape.rows()]); }
};

}  // namespace stallscope::trainer
