// PlaceGuards: what names and statements around a place say about it, whatever the conditions:
// where its value is kept, what it is handed to, what kind of function it stands in.
#pragma once

#include "source/match/clause_tests.h"

namespace stallscope {

class PlaceGuards {
 public:
  PlaceGuards(const FileView& file, const FileFacts& facts)
      : file_(file), ast_(file.ast), facts_(facts), plays_(facts.functions.size(), Answer::open) {}

  /// Guard bits of the call or expression `id`.
  uint32_t of(NodeId id) const;

 private:
  /// The text of x in x.to(...), x.cuda().
  std::string_view moved_from(NodeId call) const;
  /// The text of xs in [x.to(device) for x in xs].
  std::string_view iterated_around(NodeId call) const;
  /// Whether the function steps environments and learns nothing.
  bool plays(uint32_t function) const;
  bool hands_out_new(uint32_t function) const;
  bool allocates_anew(NodeId call) const;
  /// Whether what is moved or read is an agent's action or observation, by name.
  bool is_environment_value(NodeId id) const;
  bool reads_reward(NodeId id) const;
  bool reads_step_counter(NodeId id) const;
  bool compares_sizes(NodeId body) const;
  static bool samples_memory(const FunctionFacts& function);
  bool learns_from_memory(NodeId id) const;
  bool steps_simulator(NodeId call) const;
  bool is_for_simulator(NodeId id) const;
  bool is_written_out(NodeId id) const;
  bool waits_as_told(NodeId id) const;
  bool takes_prefetched(NodeId call) const;
  bool is_named_in(NodeId assigned, std::string_view text) const;
  bool is_unwrapped(NodeId call) const;
  bool is_moved_already(NodeId call) const;
  bool is_timed_once(NodeId id) const;
  bool is_cleaning_up(NodeId id) const;
  bool is_around_yields(NodeId id) const;
  bool is_beside_backward(NodeId id) const;
  /// Whether a call is of a library that works on the host alone.
  bool is_host_library(NodeId call) const;

  const FileView& file_;
  const Ast& ast_;
  const FileFacts& facts_;
  enum class Answer : uint8_t { open, no, yes };
  mutable std::vector<Answer> plays_;  ///< per function, worked out when it is first asked
};

}  // namespace stallscope
