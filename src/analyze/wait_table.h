// Why the device did not compute: every idle gap of the used steps split into what the host did
// before it launched, the launch call, its latency, and dependencies between streams.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/places.h"
#include "analyze/rank_context.h"

namespace stallscope {

class WaitTable {
 public:
  WaitTable(const RankContext& context, SiteTable& sites);

  /// Charges the host's part of a host-work gap to the function that filled it; its tail, from the
  /// launch call on, is launch latency.
  void add_host_work(const IdlePiece& piece, SiteId site, const std::string& host_function);

  /// Every other gap of the used steps, exposed copies and exposed communication; then the rows,
  /// longest first. They sum to the mean step time less its compute, but for rounding.
  std::vector<WaitShare> finish();

 private:
  struct Row {
    Ns total = 0, largest = 0;
    std::string subject;
  };
  void add(std::string_view cause, SiteId site, std::string_view subject, Ns ns);
  /// The part of a piece that lies after its launch call began.
  Ns latency_of(const IdlePiece& piece) const;
  void add_piece(const IdlePiece& piece);

  const RankContext& context_;
  SiteTable& sites_;
  std::map<std::pair<std::string_view, SiteId>, Row> rows_;
  Ns usual_latency_ = 0;  ///< median over gaps that the host caused
};

}  // namespace stallscope
