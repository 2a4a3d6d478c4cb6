// Sites: where in the user's code an event comes from, and through which operators.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/process_index.h"
#include "analyze/summary.h"

namespace stallscope {

/// True for files of interpreters, frameworks and systems: never the user's own place.
bool is_library_file(std::string_view file);
/// True for files of Python's standard library, with their whole path or shortened by a profiler.
bool is_standard_library(std::string_view file);

using SiteId = uint32_t;  ///< 0 = nothing known

/// A distinct (place, operators).
struct Site {
  Place place;               ///< innermost frame in the user's own code
  std::vector<Place> stack;  ///< whole stack, innermost first, operators left out
  std::string op;            ///< innermost operator
  std::string operators;     ///< all, innermost first, joined by " < "
  /// `place` asked for a backward pass, in which PyTorch's engine did this by itself.
  bool by_autograd = false;
};

/// "data.py:12": a line by its file's name alone.
std::string line_text(const Place& place);

/// "transformers/trainer.py:2261 (Trainer.train)": the innermost line of an installed Python
/// package between the user's `place` and what a stack ends in, frameworks' own (PyTorch, JAX) left
/// out. Empty when `place` does it itself.
std::string library_line(const std::vector<Place>& stack, const Place& place);

/// Sites of host events, found from their stacks, else from the ranges around them. Not for
/// concurrent use.
class SiteTable {
 public:
  SiteTable(const ProcessIndex& index, const AnalyzeOptions& options);

  /// The site of a host event; kNoEvent gives 0.
  SiteId of(EventId event);
  /// The site of device work: where it was captured when a graph runs it, else that of `launch`.
  SiteId of_work(EventId work, EventId launch);
  /// The site of a bare stack.
  SiteId of_stack(StackId stack);
  /// The frames of `stack` where they lead to the place of `id`, else those that `id` was first
  /// seen with: a place may be a training's one call, whose stacks have little else in common.
  std::vector<Place> stack_at(SiteId id, StackId stack) const;
  const Site& site(SiteId id) const { return *sites_[id]; }
  /// True for code of the user's own. `module`: the object that holds it, if known.
  bool is_user(const Place& place, std::string_view module = {}) const;

 private:
  SiteId of_ranges(EventId event);
  SiteId of_backward(EventId event, SiteId own);
  SiteId intern(Site site);
  Site read_stack(StackId stack) const;
  const ProcessIndex& index_;
  const AnalyzeOptions& options_;
  std::vector<std::string> installed_;  ///< packages outside the usual folders
  std::vector<std::unique_ptr<Site>> sites_;
  std::unordered_map<std::string, SiteId> ids_;
  std::vector<SiteId> by_stack_;  // kUnknown = not looked at yet
  std::unordered_map<uint64_t, SiteId> by_ranges_;
  std::vector<EventId> backward_;  ///< marked backward passes, by start
};

}  // namespace stallscope
