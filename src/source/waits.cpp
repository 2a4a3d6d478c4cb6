// Waiting behind a name: `synchronize()` of the project's own, called in a step, is what waits
// there, and so do flush(), which empties the allocator's cache, and cuda_pull_array(). The line
// that calls it is the one to change. So it is where to_gpu() is given a tensor made for it.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "source/index.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

constexpr std::string_view kReadBack = "device-to-host-in-step";
constexpr std::string_view kUpload = "blocking-host-to-device";
constexpr std::string_view kMoves = "create-then-move";
constexpr std::string_view kAllocates = "device-alloc-in-loop";

}  // namespace

/// What the short function of a candidate is there for, so that its callers answer for it.
SourceIndex::Wrapper SourceIndex::wrapper(size_t file, const Candidate& candidate) const {
  const FunctionFacts& f = files_[file]->functions[candidate.function];
  if ((f.flags & kMacro) != 0) return Wrapper::macro;
  if (!rules_->rules()[candidate.rule].host_block) return Wrapper::none;
  const FunctionId id = graph_->id_of(file, candidate.function);
  // to_device() of all that a layer has may be long.
  if (files_[file]->language != "python" && is_read_back_name(f.name)) return Wrapper::reads_back;
  if (files_[file]->language != "python" && is_upload_name(f.name) &&
      rules_->rules()[candidate.rule].id == kUpload)
    return Wrapper::uploads;
  if (!f.is_short()) return Wrapper::none;
  if (is_wait_only_name(f.name) && !graph_->callers(id).empty()) return Wrapper::waits;
  if (is_release_name(f.name)) return Wrapper::releases;
  if (rules_->rules()[candidate.rule].id == kAllocates && is_allocation_name(f.name))
    return Wrapper::allocates;
  return moved_argument(file, candidate) == kNone ? Wrapper::none : Wrapper::moves;
}

/// Which of its arguments a function moves to the device, by a candidate of its own; or kNone.
uint32_t SourceIndex::moved_argument(size_t file, const Candidate& candidate) const {
  if (rules_->rules()[candidate.rule].id != kMoves || candidate.subject.kind != Kind::unknown)
    return kNone;
  const Dependency* const on = files_[file]->dependency(candidate.subject.dependency);
  return on && on->kind == DependencyKind::parameter && on->function == candidate.function
             ? on->parameter
             : kNone;
}

/// Whether the function has a candidate that tells more of what its callers wait for.
bool SourceIndex::is_told_better(size_t file, const Candidate& candidate) const {
  if (rules_->rules()[candidate.rule].id == kReadBack) return false;
  return std::ranges::any_of(files_[file]->candidates, [&](const Candidate& other) {
    return other.function == candidate.function && rules_->rules()[other.rule].id == kReadBack;
  });
}

/// Per file, what its calls of such functions wait for; the functions that would speak for
/// themselves, and whose callers were told, are added to `told`.
std::vector<std::vector<SourceFact>> SourceIndex::waits(std::set<FunctionId>& told) const {
  std::vector<std::vector<SourceFact>> out(files_.size());
  std::map<std::tuple<FunctionId, std::string, std::string>, unsigned> ordinals;
  for (size_t f = 0; f < files_.size(); ++f) {
    for (const Candidate& candidate : files_[f]->candidates) {
      const Wrapper kind = wrapper(f, candidate);
      if (kind == Wrapper::none) continue;
      const bool reads_back = kind == Wrapper::reads_back;
      const bool says_it =
          reads_back || (kind == Wrapper::waits &&
                         names_what_it_waits_for(files_[f]->functions[candidate.function].name));
      if (reads_back && is_told_better(f, candidate)) continue;
      const SourceRule& rule = rules_->rules()[candidate.rule];
      const FunctionId called = graph_->id_of(f, candidate.function);
      const CompiledClause& clause = rules_->clauses()[candidate.clause];
      Value subject = resolved(f, candidate.subject, kMaxHops);
      subject.dependency = 0;  // means nothing in another file
      for (uint32_t e : graph_->callers(called)) {
        const Edge& edge = graph_->edges()[e];
        const CallFacts& call = *edge.call;
        // Whose method it is must be known, unless its name says what it does.
        if (call.form == CallForm::reference ||
            (call.form == CallForm::method && call.receiver == 0 && !says_it &&
             !graph_->is_only_method(edge)) ||
            call.line_text.empty() || (kind == Wrapper::macro && is_another_macro(edge)))
          continue;
        if (!runs_for(edge, f, candidate)) continue;
        Candidate there = candidate;
        there.option = {};  // its function's, which this call has decided
        there.default_of = kNone;
        there.switches = call.switches;
        there.function = graph_->index_in_file(edge.from);
        there.loop = call.loop;
        there.guards = candidate.guards | call.guards;
        there.first_line = there.last_line = there.anchor_line = call.line;
        there.first_byte = call.first_byte;
        there.last_byte = call.last_byte;
        there.column = call.column;
        there.line_text = call.line_text;
        there.also.clear();  // lines of the other function
        there.subject =
            kind == Wrapper::moves ? graph_->argument(edge, moved_argument(f, candidate)) : subject;
        if ((there.guards & clause.unless) != 0) continue;
        const size_t file = graph_->file_index(edge.from);
        SourceFact fact;
        if (!decide(file, there, fact)) continue;
        // copyTo(), getCentroids(): there the caller asks for them.
        const std::string& caller = graph_->function(edge.from).name;
        const bool asks = reads_back || (kind == Wrapper::waits && files_[file]->is_compiled());
        const bool operates = asks && fact.context == "library" && !is_hand_over_name(caller);
        if (fact.context != "step" && fact.context != "forward" && !operates &&
            kind != Wrapper::macro)
          continue;
        if (hands_on(edge.from, kind)) continue;
        if (!answers_never(kind)) told.insert(called);
        // Where it waits, which may be the better place to change.
        fact.also.push_back({files_[f]->path, candidate.anchor_line,
                             graph_->function(called).qualified, files_[f]->language});
        fact.ordinal = ordinals[{edge.from, rule.id, call.line_text}]++;
        out[file].push_back(std::move(fact));
      }
    }
  }
  return out;
}

/// Whether another file's macro of that name, which does not wait, may be the one that is used.
bool SourceIndex::is_another_macro(const Edge& edge) const {
  return std::ranges::any_of(graph_->calls(edge.from), [&](uint32_t e) {
    const Edge& other = graph_->edges()[e];
    if (other.call != edge.call || (graph_->function(other.to).flags & kMacro) == 0) return false;
    const uint32_t index = graph_->index_in_file(other.to);
    return std::ranges::none_of(graph_->file(other.to).candidates, [&](const Candidate& candidate) {
      return candidate.function == index;
    });
  });
}

/// to_cuda(t, device=None): whether a call gives the function, of `file`, what its candidate is
/// for.
bool SourceIndex::runs_for(const Edge& edge, size_t file, const Candidate& candidate) const {
  const Option& option = candidate.option;
  if (option.parameter != kNone) {
    const bool own = graph_->id_of(file, option.function) == edge.to;
    if (own ? !is_asked_by(edge, option, kMaxHops) : is_never_asked(file, option, kMaxHops))
      return false;
  }
  return candidate.default_of == kNone ||
         given(*edge.call, graph_->function(edge.to), candidate.default_of) != GivenBy::yes;
}

/// Whether the caller of a wrapper is one itself: its own callers answer.
bool SourceIndex::hands_on(FunctionId caller, Wrapper kind) const {
  const FunctionFacts& f = graph_->function(caller);
  if (!f.is_short() || kind == Wrapper::moves || kind == Wrapper::macro) return false;
  if (kind == Wrapper::reads_back && graph_->file(caller).language != "python" &&
      is_read_back_name(f.name))
    return true;
  if (kind == Wrapper::uploads) return is_upload_name(f.name);
  if (kind == Wrapper::allocates) return is_allocation_name(f.name);
  return (is_wait_only_name(f.name) || is_release_name(f.name)) && !graph_->callers(caller).empty();
}

/// Whether a call may mean another function of that name. What stands behind #else is the same.
bool SourceIndex::is_overloaded(const Edge& edge) const {
  const FunctionFacts& meant = graph_->function(edge.to);
  return std::ranges::any_of(graph_->calls(edge.from), [&](uint32_t e) {
    const Edge& other = graph_->edges()[e];
    if (other.call != edge.call || other.to == edge.to) return false;
    const FunctionFacts& also = graph_->function(other.to);
    return graph_->file_index(other.to) != graph_->file_index(edge.to) ||
           also.qualified != meant.qualified || also.parameters != meant.parameters;
  });
}

/// Whether a short function of C++ is there for one copy or wait, as setData(host) is: no pass of a
/// layer, and nothing that it does in a loop.
bool SourceIndex::is_helper(const Candidate& candidate, const FunctionFacts& f) const {
  // memcpy() of the program's own is as likely the library's.
  return (f.flags & (kForward | kMainFunction | kStepEvidence)) == 0 && candidate.loop == kNone &&
         !is_one_of(f.name,
                    {"memcpy", "memset", "memmove", "malloc", "free", "copy", "fill", "swap"}) &&
         !has_word(lower(snake_case(f.name)), {"forward", "backward", "step", "update", "train"});
}

/// outs = self.to_host(outs): the steps that hand a short function of Python what it waits for,
/// told with what it does; and those that call a helper of C++.
void SourceIndex::add_askers(size_t file, const Candidate& candidate, SourceFact& fact) const {
  // Of a helper of all the program no line is the one to mend; of to_cpu() each asks for it, and of
  // what does nothing else.
  constexpr size_t kMost = 4, kMostWhoSay = 8, kMostOfOneLine = 32;
  const FunctionFacts& f = files_[file]->functions[candidate.function];
  const bool compiled = files_[file]->is_compiled();
  const bool says_it = compiled ? is_helper(candidate, f) : is_read_back_name(f.name);
  const Dependency* on = files_[file]->dependency(candidate.subject.dependency);
  while (on && on->kind == DependencyKind::derived) on = files_[file]->dependency(on->function);
  const bool of_parameter = !compiled && on && on->kind == DependencyKind::parameter &&
                            on->function == candidate.function;
  if (!f.is_short() || !(of_parameter || says_it) || fact.lowered > (says_it ? 1 : 0)) return;
  const uint32_t unless = rules_->clauses()[candidate.clause].unless;
  std::vector<SourceLine> lines;
  for (const uint32_t e : graph_->callers(graph_->id_of(file, candidate.function))) {
    const Edge& edge = graph_->edges()[e];
    const bool runs = (contexts_->at(edge.from, edge.loop) & (kInStep | kInForward)) != 0;
    const bool by_name = edge.call->form == CallForm::method && edge.call->receiver == 0;
    const bool guessed =
        compiled && (((by_name || is_common_method(f.name)) && !graph_->is_only_method(edge)) ||
                     is_overloaded(edge));
    if (!runs || edge.call->form == CallForm::reference || guessed ||
        (edge.call->guards & unless) != 0)
      continue;
    const FileFacts& by = graph_->file(edge.from);
    lines.push_back({by.path, edge.call->line, graph_->function(edge.from).qualified, by.language});
  }
  const bool one_line = f.last_line - f.first_line < 3;
  if (lines.size() <= (one_line ? kMostOfOneLine : says_it ? kMostWhoSay : kMost))
    fact.also.insert(fact.also.end(), lines.begin(), lines.end());
}

/// Whether a candidate is for the callers of its function to answer for, as far as they were told.
bool SourceIndex::is_for_callers(size_t file, const Candidate& candidate,
                                 const std::set<FunctionId>& told) const {
  const Wrapper kind = wrapper(file, candidate);
  const FunctionFacts& f = files_[file]->functions[candidate.function];
  // C++: Event::synchronize(), bound to Python: who calls it wants to wait.
  if (files_[file]->is_compiled() && !f.class_name.empty() && f.is_short() &&
      is_wait_only_name(f.name))
    return true;
  return answers_never(kind) ||
         (kind != Wrapper::none && told.contains(graph_->id_of(file, candidate.function)));
}

}  // namespace stallscope
