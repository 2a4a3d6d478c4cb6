// Waiting behind a name: `synchronize()` of the project's own, called in a step, is what waits
// there, and so does cuda_pull_array(). The line that calls it is the one to change.
#include <algorithm>
#include <map>
#include <set>

#include "source/index.h"
#include "source/names/roles.h"

namespace stallscope {
namespace {

constexpr uint32_t kLongestWrapper = 20;  ///< lines of a function that does little but wait
constexpr std::string_view kReadBack = "device-to-host-in-step";

}  // namespace

/// Whether the function of a candidate exists to wait, so that its callers answer for it.
bool SourceIndex::is_wait_wrapper(FunctionId function) const {
  const FunctionFacts& f = graph_->function(function);
  return is_wait_only_name(f.name) && f.last_line - f.first_line < kLongestWrapper &&
         !graph_->callers(function).empty();
}

/// Whether it is a function of C++ that brings memory of the device to the host.
bool SourceIndex::is_read_back_wrapper(FunctionId function) const {
  const FunctionFacts& f = graph_->function(function);
  return graph_->file(function).language != "python" && is_read_back_name(f.name) &&
         f.last_line - f.first_line < kLongestWrapper;
}

/// Whether the function has a candidate that tells more of what its callers wait for.
bool SourceIndex::is_told_better(size_t file, const Candidate& candidate) const {
  if (rules_->rules()[candidate.rule].id == kReadBack) return false;
  return std::ranges::any_of(files_[file]->candidates, [&](const Candidate& other) {
    return other.function == candidate.function && rules_->rules()[other.rule].id == kReadBack;
  });
}

/// Per file, what its calls of such functions wait for; the functions that copy to the host and
/// whose callers were told so are added to `told`.
std::vector<std::vector<SourceFact>> SourceIndex::waits(std::set<FunctionId>& told) const {
  std::vector<std::vector<SourceFact>> out(files_.size());
  std::map<std::tuple<FunctionId, std::string, std::string>, unsigned> ordinals;
  for (size_t f = 0; f < files_.size(); ++f) {
    for (const Candidate& candidate : files_[f]->candidates) {
      const SourceRule& rule = rules_->rules()[candidate.rule];
      const FunctionId wrapper = graph_->id_of(f, candidate.function);
      const bool reads_back = is_read_back_wrapper(wrapper);
      if (!rule.host_block || (!reads_back && !is_wait_wrapper(wrapper))) continue;
      if (reads_back && is_told_better(f, candidate)) continue;
      const CompiledClause& clause = rules_->clauses()[candidate.clause];
      Value subject = resolved(f, candidate.subject, kMaxHops);
      subject.dependency = 0;  // means nothing in another file
      for (uint32_t e : graph_->callers(wrapper)) {
        const Edge& edge = graph_->edges()[e];
        const CallFacts& call = *edge.call;
        // Whose method it is must be known, unless its name says what it does.
        if (call.form == CallForm::reference ||
            (call.form == CallForm::method && call.receiver == 0 && !reads_back) ||
            call.line_text.empty())
          continue;
        Candidate there = candidate;
        there.function = graph_->index_in_file(edge.from);
        there.loop = call.loop;
        there.guards = candidate.guards | call.guards;
        there.first_line = there.last_line = there.anchor_line = call.line;
        there.first_byte = call.first_byte;
        there.last_byte = call.last_byte;
        there.column = call.column;
        there.line_text = call.line_text;
        there.subject = subject;
        if ((there.guards & clause.unless) != 0) continue;
        const size_t file = graph_->file_index(edge.from);
        SourceFact fact;
        if (!decide(file, there, fact)) continue;
        // copyTo(), getCentroids(): there the caller asks for them.
        const bool operates = reads_back && fact.context == "library" &&
                              !is_hand_over_name(graph_->function(edge.from).name);
        if (fact.context != "step" && fact.context != "forward" && !operates) continue;
        if (is_wait_wrapper(edge.from) || (reads_back && is_read_back_wrapper(edge.from))) continue;
        if (reads_back) told.insert(wrapper);
        fact.ordinal = ordinals[{edge.from, rule.id, call.line_text}]++;
        out[file].push_back(std::move(fact));
      }
    }
  }
  return out;
}

}  // namespace stallscope
