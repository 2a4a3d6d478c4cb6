#include "source/index.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/parallel.h"
#include "source/extract/cache.h"
#include "source/extract/settings.h"
#include "source/link/purpose.h"
#include "source/names/mentions.h"
#include "source/names/roles.h"
#include "source/names/training_state.h"
#include "source/syntax/notebook.h"

namespace stallscope {
namespace {

std::unique_ptr<FileFacts> skipped_file(const SourceInput& input, std::string note = {}) {
  auto out = std::make_unique<FileFacts>();
  out->path = input.path;
  out->skipped = true;
  out->note = std::move(note);
  return out;
}

/// The bytes of an input; 0 when that is not known.
uintmax_t size_of(const SourceInput& input) {
  if (input.on_disk.empty()) return input.bytes.size();
  std::error_code ec;
  const uintmax_t size = std::filesystem::file_size(input.on_disk, ec);
  return ec ? 0 : size;
}

/// "line 12 ..." of a notebook's code as its reader counts: "cell 3, line 2 ...".
std::string by_cell(const std::string& note, const std::vector<std::string>& cells) {
  constexpr std::string_view kLine = "line ";
  if (!note.starts_with(kLine)) return note;
  const size_t end = std::min(note.find(' ', kLine.size()), note.size());
  size_t line = 0;
  std::from_chars(note.data() + kLine.size(), note.data() + end, line);
  return line > 0 && line <= cells.size() ? cells[line - 1] + note.substr(end) : note;
}

std::unique_ptr<FileFacts> read_one(const SourceInput& input, const RuleSet& rules,
                                    const IndexOptions& options) {
  /// Bytes of a notebook: most are pictures, its code is held to the other limit.
  constexpr uint64_t kLargestNotebook = 64u << 20;
  const bool is_notebook = language_of_file(input.path) == "notebook";
  std::string bytes = input.bytes;
  if (!input.on_disk.empty()) {
    // Large configuration files are data, and need not be read to know it.
    if ((is_settings_file(input.path) || is_options_file(input.path)) &&
        size_of(input) > kLargestSettings)
      return skipped_file(input);
    const uint64_t most =
        is_notebook ? std::max(options.file.max_bytes, kLargestNotebook) : options.file.max_bytes;
    if (!is_notebook && size_of(input) > most) return skipped_file(input, too_large(options.file));
    auto read = read_file(input.on_disk, most);
    if (!read) return skipped_file(input, read.error().message);
    bytes = std::move(read.value());
  }
  if (is_notebook) {
    Notebook notebook = notebook_code(bytes);
    if (!notebook.problem.empty()) {
      auto out = skipped_file(input, notebook.problem);
      out->broken = true;
      return out;
    }
    auto out =
        std::make_unique<FileFacts>(analyze_file(input.path, notebook.code, rules, options.file));
    out->note = by_cell(out->note, notebook.cell_of_line);
    out->lines_of_cells = notebook.cell_of_line;
    return out;
  }
  // What is not on disk is an editor's text, gone with the next key.
  const std::string& cache = input.on_disk.empty() ? input.on_disk : options.cache_folder;
  if (auto cached = cached_facts(cache, input.path, bytes, rules.digest())) return cached;
  auto out = std::make_unique<FileFacts>(analyze_file(input.path, bytes, rules, options.file));
  store_facts(cache, input.path, bytes, rules.digest(), *out);
  return out;
}

/// In which order inputs are read: so that no thread is left alone with a large file at the end.
struct ReadingOrder {
  /// The tree of a large file may take hundreds of times its size: one at a time, by one thread.
  std::vector<uint32_t> one_by_one;
  std::vector<uint32_t> by_all;
};

ReadingOrder largest_first(const std::vector<SourceInput>& inputs) {
  constexpr uintmax_t kLarge = 256u << 10;
  std::vector<std::pair<uintmax_t, uint32_t>> sized;
  for (uint32_t i = 0; i < inputs.size(); ++i) sized.emplace_back(size_of(inputs[i]), i);
  std::ranges::sort(sized, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  ReadingOrder order;
  for (const auto& [size, i] : sized) {
    // Of a notebook most is no code.
    const bool large = size > kLarge && language_of_file(inputs[i].path) != "notebook";
    (large ? order.one_by_one : order.by_all).push_back(i);
  }
  return order;
}

/// Files with a function of which a flag says something.
std::vector<uint32_t> files_with(const CallGraph& graph, FunctionFlag flag) {
  std::vector<uint32_t> out;
  const auto has = [&](const FunctionFacts& f) { return (f.flags & flag) != 0; };
  for (uint32_t file = 0; file < graph.files().size(); ++file) {
    if (std::ranges::any_of(graph.files()[file]->functions, has)) out.push_back(file);
  }
  return out;
}

/// Whether a clause is about x.item().
bool reads_item(const CompiledClause& clause) {
  return std::ranges::find(clause.clause->calls, ".item") != clause.clause->calls.end();
}

/// What one fact takes of another, for which it speaks: its lines, other than its own.
void take_lines(const SourceFact& of, SourceFact& to) {
  std::vector<SourceLine> lines = of.also;
  lines.push_back({of.file, of.first_line, of.function, of.language});
  for (SourceLine& line : lines) {
    const bool own = line.file == to.file && line.line == to.first_line;
    if (!own && std::ranges::find(to.also, line) == to.also.end())
      to.also.push_back(std::move(line));
  }
}

}  // namespace

SourceIndex SourceIndex::build(const std::vector<SourceInput>& inputs, const RuleSet& rules,
                               const IndexOptions& options) {
  SourceIndex index;
  index.rules_ = &rules;
  index.files_.resize(inputs.size());
  // A file of C++ that somebody works on: libclang is opened while structure is read. In a whole
  // project that takes no time to speak of, and often nothing is asked of it.
  std::optional<ClangWorkers> workers;
  constexpr size_t kFew = 16;
  if (inputs.size() <= kFew && !options.typed.known &&
      std::ranges::any_of(inputs, is_compiled_path, &SourceInput::path))
    workers = start_clang(options.clang);
  const unsigned threads = std::clamp<unsigned>(
      options.threads != 0 ? options.threads : std::thread::hardware_concurrency(), 1,
      static_cast<unsigned>(std::max<size_t>(1, inputs.size() / 4)));
  const ReadingOrder order = largest_first(inputs);
  const auto read = [&](uint32_t i) { index.files_[i] = read_one(inputs[i], rules, options); };
  std::atomic<size_t> next{0};
  const auto read_others = [&] {
    for (size_t i = next.fetch_add(1); i < order.by_all.size(); i = next.fetch_add(1))
      read(order.by_all[i]);
  };
  std::vector<std::jthread> pool;
  for (unsigned t = 1; t < threads; ++t) pool.emplace_back(read_others);
  std::ranges::for_each(order.one_by_one, read);
  read_others();
  pool.clear();
  index.link(options);
  if (options.clang.on || options.typed.known) index.add_types(inputs, options, std::move(workers));
  return index;
}

void SourceIndex::link(const IndexOptions& options) {
  graph_ = std::make_unique<CallGraph>(files_);
  // These ask the graph alone.
  parallel_for(3, [&](size_t part) {
    if (part == 0) steps_ = std::make_unique<StepLoops>(*graph_, options.entry_points);
    if (part == 1) switchboard_ = std::make_unique<Switchboard>(*graph_);
    if (part == 2) dead_code_ = std::make_unique<DeadCode>(*graph_);
  });
  // What programs are for asks the graph alone, too.
  parallel_for(2, [&](size_t part) {
    if (part == 0)
      contexts_ = std::make_unique<Contexts>(*graph_, *dead_code_, *switchboard_, *steps_,
                                             options.entry_points);
    if (part == 1) find_purposes();
  });
}

/// What is known of files, and of the project, whatever their functions call.
void SourceIndex::find_purposes() {
  device_buffers_ = std::make_unique<DeviceBuffers>(*graph_, objects_of_constructors());
  prefetching_ = graph_->classes().files_with_prefetchers();
  std::ranges::copy(files_with(*graph_, kPrefetches), std::back_inserter(prefetching_));
  with_workers_ = files_with(*graph_, kHasWorkers);
  without_workers_ = files_with(*graph_, kLoadsItself);
  stalls_nothing_ =
      only_infers(*graph_) ? std::vector<bool>(files_.size(), true) : stay_on_host(*graph_);
  names_no_device_ = names_no_device(*graph_);
  only_generates_ = only_generates(*graph_);
  default_device_ = chooses_default_device(*graph_);
  scatters_ = scatters_batches(*graph_);
}

std::vector<SourceFact> SourceIndex::facts() const {
  std::vector<SourceFact> out;
  std::set<FunctionId> told;
  std::vector<std::vector<SourceFact>> waits = this->waits(told);
  for (size_t f = 0; f < files_.size(); ++f) {
    std::vector<SourceFact> found;
    std::vector<const Candidate*> from;
    for (const Candidate& candidate : files_[f]->candidates) {
      SourceFact fact;
      if (is_for_callers(f, candidate, told)) continue;
      if (!decide(f, candidate, fact)) continue;
      found.push_back(std::move(fact));
      from.push_back(&candidate);
    }
    merge_blocks(found, from);
    std::ranges::move(waits[f], std::back_inserter(found));
    merge_lines(found);
    for (SourceFact& fact : found) {
      if (!fact.rule_id.empty()) out.push_back(std::move(fact));
    }
  }
  std::ranges::stable_sort(out, {}, [](const SourceFact& f) {
    return std::tie(f.file, f.first_line, f.column, f.rule_id);
  });
  return out;
}

/// One expression is one finding: the most specific rule speaks, the others are related. A weak
/// clause speaks where no other does.
void SourceIndex::merge_blocks(std::vector<SourceFact>& facts,
                               const std::vector<const Candidate*>& from) const {
  auto rank = [&](size_t i) {
    return std::tuple(!facts[i].weak, rules_->clauses()[from[i]->clause].specificity,
                      from[i]->last_byte);
  };
  auto merges = [&](size_t i) {
    return !facts[i].rule_id.empty() && rules_->rules()[from[i]->rule].host_block;
  };
  std::map<NodeId, std::vector<size_t>> blocks;
  for (size_t i = 0; i < facts.size(); ++i) {
    if (merges(i)) blocks[from[i]->block].push_back(i);
  }
  for (const auto& [block, members] : blocks) {
    const size_t best = *std::ranges::max_element(members, {}, rank);
    for (const size_t i : members) {
      if (i == best) continue;
      take_lines(facts[i], facts[best]);
      if (facts[i].rule_id != facts[best].rule_id) facts[best].related.push_back(facts[i].rule_id);
      facts[i].rule_id.clear();
    }
    std::ranges::sort(facts[best].related);
    facts[best].related.erase(std::unique(facts[best].related.begin(), facts[best].related.end()),
                              facts[best].related.end());
  }
}

/// One rule speaks once about a line: a.item(), b.item() are read by the same statement. Some speak
/// once about a function: what they are about is its loop, or how it is built.
void SourceIndex::merge_lines(std::vector<SourceFact>& facts) const {
  using Place = std::tuple<uint32_t, std::string_view, std::string_view>;
  std::map<Place, SourceFact*> seen;
  for (SourceFact& fact : facts) {
    if (fact.rule_id.empty()) continue;
    const auto rule = std::ranges::find(rules_->rules(), fact.rule_id, &SourceRule::id);
    // "<module>" is no function: what a file does outside of its functions are many things.
    const bool once =
        rule != rules_->rules().end() && rule->once_per_function && !fact.function.starts_with('<');
    const uint32_t line = once ? 0 : fact.first_line;
    const auto [first, added] = seen.try_emplace(Place(line, fact.rule_id, fact.function), &fact);
    if (added) continue;
    take_lines(fact, *first->second);
    fact.rule_id.clear();
  }
}

/// Whether a loader or a generator that fetches ahead stands in the file, or in one that others
/// import. A file that makes its loader itself says whether that has workers.
bool SourceIndex::has_prefetcher(size_t file) const {
  const bool own = std::ranges::binary_search(without_workers_, static_cast<uint32_t>(file));
  const auto is_near = [&](uint32_t place) {
    return place == file || dead_code_->is_imported(place);
  };
  return std::ranges::any_of(prefetching_, is_near) ||
         std::ranges::any_of(with_workers_,
                             [&](uint32_t place) { return own ? place == file : is_near(place); });
}

/// validation_step(): whether a framework calls a function for each batch of an evaluation, and the
/// rule is not about copies of what it computed, which the host wants of every one.
bool SourceIndex::for_each_batch(FunctionId function, const CompiledClause& clause) const {
  return (clause.lower & kGuardBehindCalls) == 0 && contexts_->evaluates_batches(function);
}

bool SourceIndex::decide(size_t file, const Candidate& candidate, SourceFact& out) const {
  const CompiledClause& clause = rules_->clauses()[candidate.clause];
  const FileFacts& facts = *files_[file];
  if (stalls_nothing_[file] || (candidate.guards & kGuardOutsideStep) != 0) return false;
  if ((clause.unless & kGuardTest) != 0 && is_test_file(facts)) return false;
  if ((clause.unless & kGuardPrefetched) != 0 && has_prefetcher(file)) return false;
  if (facts.is_compiled() && facts.functions[candidate.function].makes_or_ends() &&
      rules_->tells_declarations(candidate.rule))
    return false;
  if (candidate.in_callers_loop &&
      !is_called_for_each_parameter(graph_->id_of(file, candidate.function)))
    return false;
  if (candidate.default_of != kNone && (clause.unless & kGuardNotGiven) != 0) {
    const FunctionId function = graph_->id_of(file, candidate.function);
    if ((candidate.guards & kGuardNotGiven) != 0
            ? !left_out_by_callers(function, candidate.default_of)
            : given_by_callers(function, candidate.default_of))
      return false;
  }
  if (candidate.option.parameter != kNone &&
      (is_never_asked(file, candidate.option, kMaxHops) ||
       !contexts_->is_asked_in_steps(graph_->id_of(file, candidate.function), candidate.option)))
    return false;
  if (is_called_for_nobody(graph_->id_of(file, candidate.function)) ||
      (!clause.on && is_own_loader(file, candidate.subject)))
    return false;
  const std::vector<SourceLine>* const buffer =
      clause.own_device_buffers ? device_buffer_of(facts, candidate) : nullptr;
  if (clause.own_device_buffers && !buffer) return false;
  Value subject = resolved(file, candidate.subject, kMaxHops);
  const bool guessed = facts.is_compiled() && !facts.typed && rests_on_types(clause);
  // Numbers have no item(): some callers hand in one, others a tensor.
  if (subject.kind == Kind::number && candidate.subject.kind == Kind::unknown && reads_item(clause))
    subject = {};
  if (clause.on) {
    const bool known = std::ranges::find(clause.on->kinds, subject.kind) != clause.on->kinds.end();
    if (!known && (subject.kind != Kind::unknown || clause.certainty != Certainty::unknown))
      return false;
    if (known && subject.certainty < clause.certainty) return false;
    // torch.set_default_device("cuda"): torch.zeros(n) is there
    if (default_device_ && !facts.is_compiled() && subject.kind == Kind::host_tensor &&
        !subject.has(kFromHost))
      return false;
    if (subject.kind == Kind::batch && is_moved(file, subject.dependency)) return false;
    if (is_kept_on_host(file, subject)) return false;
    if ((subject.flags & clause.on->without) != 0) return false;
    // What a module gave may be a record, or None.
    if (clause.matcher && candidate.subject.kind == Kind::unknown && subject.has(kModuleOutput))
      return false;
    // Of what another function gives only the link knows how it was made.
    if (clause.on->flags != 0 && candidate.subject.kind == Kind::unknown &&
        (subject.flags & clause.on->flags) == 0)
      return false;
  }
  if (candidate.open != 0 && !clause.accepts(candidate.open, subject)) return false;
  if (!context_allows(file, candidate, clause, out)) return false;
  if (scatters_ && subject.kind == Kind::batch && out.context == "forward") return false;
  if (switchboard_->is_off(facts, candidate.switches) ||
      contexts_->is_by_option(graph_->id_of(file, candidate.function), candidate.loop)) {
    out.guards.emplace_back(kOptionOff);
    ++out.lowered;
  }
  if (names_no_device_ && facts.is_compiled()) out.guards.emplace_back(kNoDevice);
  if (only_generates_ && facts.is_compiled()) out.guards.emplace_back(kGenerates);
  if (is_spare_path(facts.path)) out.guards.emplace_back(kSpare);
  // What trains, or is called forward(), was meant to run.
  if (facts.is_compiled() && out.context != "step" && out.context != "forward" &&
      dead_code_->is_unnamed(graph_->id_of(file, candidate.function))) {
    out.guards.emplace_back(kUnnamed);
    out.lowered += out.context == "library" ? 1 : 2;
  }
  // Neither is known that it runs in a step nor that it is a tensor: too little to speak up.
  if (out.context == "library" && clause.on && subject.certainty == Certainty::unknown &&
      candidate.loop == kNone)
    return false;
  // Nor where an evaluation reads what may be anything, or what may be a tensor and once.
  const bool once = candidate.loop == kNone && subject.kind != Kind::batch &&
                    !for_each_batch(graph_->id_of(file, candidate.function), clause);
  const Certainty needed = once ? Certainty::proven : Certainty::likely;
  if (clause.on && subject.certainty < needed &&
      std::ranges::find(out.guards, "evaluation-only") != out.guards.end())
    return false;
  const SourceRule& rule = rules_->rules()[candidate.rule];
  out.rule_id = rule.id;
  out.file = facts.path;
  out.content_hash = facts.content_hash;
  out.first_line = candidate.anchor_line;
  out.last_line = std::max(candidate.last_line, candidate.anchor_line);
  out.column = candidate.column;
  out.first_byte = candidate.first_byte;
  out.last_byte = candidate.last_byte;
  out.function = facts.functions[candidate.function].qualified;
  out.language = facts.language;
  out.weak = clause.clause->weak;
  out.certainty = clause.on ? subject.certainty : Certainty::proven;
  if (guessed) out.certainty = std::min(out.certainty, Certainty::likely);
  if (buffer) out.also = *buffer;
  for (const uint32_t line : candidate.also)
    out.also.push_back({facts.path, line, out.function, facts.language});
  if (rule.host_block && (out.context == "step" || out.context == "forward"))
    add_askers(file, candidate, out);
  out.line_text = candidate.line_text;
  out.ordinal = candidate.ordinal;
  for (const auto& [name, text] : candidate.metavariables) out.metavariables[name] = text;
  const uint32_t lower = clause.lower | kGuardRankZero | kGuardEvaluation;
  for (const GuardWord& g : guard_words()) {
    if ((candidate.guards & g.guard & lower) == 0) continue;
    out.guards.emplace_back(g.name);
    // What the device hides is hidden whole, unless something in the loop waits.
    out.lowered += g.guard == kGuardAsynchronous ? 2 : 1;
  }
  return true;
}

}  // namespace stallscope
