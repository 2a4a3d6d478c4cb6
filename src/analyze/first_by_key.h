// FirstByKey: a look-up table that is filled once and then only read.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/process_index.h"

namespace stallscope {

/// Key -> the first event that was added with it. Keys that come in rising
/// order, as calls and correlation ids mostly do, cost one comparison each:
/// on traces of millions of rows a hash table costs several times as much.
template <typename Key>
class FirstByKey {
 public:
  void add(Key key, EventId event) { rows_.emplace_back(key, event); }

  /// To be called once, after the last add().
  void sort() {
    if (!std::ranges::is_sorted(rows_, {}, &Row::first))
      std::ranges::stable_sort(rows_, {}, &Row::first);
  }

  /// kNoEvent when nothing was added with this key.
  EventId find(Key key) const {
    const auto row = std::ranges::lower_bound(rows_, key, {}, &Row::first);
    return row == rows_.end() || row->first != key ? kNoEvent : row->second;
  }

 private:
  using Row = std::pair<Key, EventId>;
  std::vector<Row> rows_;
};

}  // namespace stallscope
