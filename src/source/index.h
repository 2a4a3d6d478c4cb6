// SourceIndex: the files of a project, linked: which candidates are findings,
// in which context and why.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/clang/layer.h"
#include "source/extract/file_facts.h"
#include "source/link/contexts.h"
#include "source/link/dead_code.h"
#include "source/link/device_buffers.h"
#include "source/link/given.h"

namespace stallscope {

/// A source file to read: from disk, or given (stdin).
struct SourceInput {
  std::string path;     ///< relative to the root, as facts name it
  std::string on_disk;  ///< where to read it; empty when `bytes` holds it
  std::string bytes;
};

/// How far values are followed through returns and parameters of own functions.
inline constexpr unsigned kMaxHops = 5;

/// Which files of C++ are asked for types. Of those without any place that rests on them, none.
struct TypedFiles {
  std::optional<std::set<std::string>> only;  ///< paths as in SourceInput; none = all
  std::set<std::string> always;               ///< those that a run saw at work: whatever they hold
  /// Types that are known already, by path; null = libclang is asked.
  const std::map<std::string, const ClangTypes*>* known = nullptr;
};

struct IndexOptions {
  FileOptions file;
  std::vector<EntryPoint> entry_points;
  unsigned threads = 0;      ///< 0 = one per core
  std::string cache_folder;  ///< empty = no cache
  ClangOptions clang;
  TypedFiles typed;
};

class SourceIndex {
 public:
  /// Reads and links `inputs`. A file that cannot be read is noted, not an error.
  static SourceIndex build(const std::vector<SourceInput>& inputs, const RuleSet& rules,
                           const IndexOptions& options);

  /// Every match of every rule, by file, line and rule.
  std::vector<SourceFact> facts() const;
  const std::vector<std::unique_ptr<FileFacts>>& files() const { return files_; }
  /// What could not be done as well as it might be; for the user.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Lines of a file that run in every step or forward pass: what findings are counted against.
  size_t step_lines(size_t file) const;

 private:
  void link(const IndexOptions& options);
  void find_purposes();
  void add_types(const std::vector<SourceInput>& inputs, const IndexOptions& options,
                 std::optional<ClangWorkers> workers);
  void read_again(size_t file, const std::string& path, std::string_view text,
                  const ClangTypes& types, const IndexOptions& options);
  bool needs_types(size_t file) const;
  bool only_builds(size_t file, const Node& function) const;
  std::vector<OwnedObject> objects_of_constructors() const;
  const std::vector<SourceLine>* device_buffer_of(const FileFacts& facts,
                                                  const Candidate& candidate) const;
  bool is_kept_on_host(size_t file, const Value& value) const;
  bool is_moved(size_t file, uint32_t dependency) const;
  bool has_prefetcher(size_t file) const;
  bool decide(size_t file, const Candidate& candidate, SourceFact& out) const;
  /// Functions for which the lines that call them answer.
  enum class Wrapper : uint8_t {
    none,
    waits,
    releases,
    allocates,
    reads_back,
    uploads,
    moves,
    macro
  };
  /// Whether such a function does not answer for itself, even where none of its callers does.
  static bool answers_never(Wrapper kind) {
    return kind == Wrapper::waits || kind == Wrapper::moves || kind == Wrapper::macro;
  }
  Wrapper wrapper(size_t file, const Candidate& candidate) const;
  bool hands_on(FunctionId caller, Wrapper kind) const;
  bool runs_for(const Edge& edge, size_t file, const Candidate& candidate) const;
  bool is_another_macro(const Edge& edge) const;
  bool is_overloaded(const Edge& edge) const;
  bool is_helper(const Candidate& candidate, const FunctionFacts& f) const;
  void add_askers(size_t file, const Candidate& candidate, SourceFact& fact) const;
  bool is_for_callers(size_t file, const Candidate& candidate,
                      const std::set<FunctionId>& told) const;
  uint32_t moved_argument(size_t file, const Candidate& candidate) const;
  bool is_told_better(size_t file, const Candidate& candidate) const;
  std::vector<std::vector<SourceFact>> waits(std::set<FunctionId>& told) const;
  bool for_each_batch(FunctionId function, const CompiledClause& clause) const;
  bool once_in_evaluation(FunctionId function, const Candidate& candidate, uint16_t bits) const;
  bool works_on_device(FunctionId function) const;
  bool may_be_operator(FunctionId function) const;
  bool is_loop_work(FunctionId function) const;
  bool only_predicts(FunctionId program) const;
  bool context_allows(size_t file, const Candidate& candidate, const CompiledClause& clause,
                      SourceFact& out) const;
  bool is_switched_nowhere(size_t file, std::string_view parameter) const;
  bool is_given_numbers(FunctionId function) const;
  bool is_asked_by(const Edge& edge, const Option& option, unsigned hops) const;
  bool is_asked_by_none(FunctionId function, const Option& option) const;
  bool is_never_asked(size_t file, const Option& option, unsigned hops) const;
  bool is_called_for_nobody(FunctionId function) const;
  bool is_called_for_each_parameter(FunctionId function) const;
  bool is_own_loader(size_t file, const Value& subject) const;
  bool hands_on_nothing(const Edge& edge, const Option& option, unsigned hops) const;
  bool left_out_by_callers(FunctionId function, uint32_t parameter) const;
  bool all_callers(FunctionId function, uint32_t parameter, GivenBy wanted) const;
  bool given_by_callers(FunctionId function, uint32_t parameter) const;
  bool says_training(size_t file, const FunctionFacts& function) const;
  bool stand_alone(size_t file, SourceFact& out) const;
  bool library_allows(size_t file, FunctionId function, const CompiledClause& clause) const;
  Value resolved(size_t file, const Value& value, unsigned hops) const;
  Value of_targets(size_t file, const Dependency& on,
                   const std::function<Value(FunctionId)>& value_of) const;
  Value entry_of(size_t file, uint32_t mapping, std::string_view key, unsigned hops) const;
  Value of_parameter(FunctionId function, uint32_t parameter, unsigned hops) const;
  Value of_callers(FunctionId function, uint32_t parameter,
                   const std::function<Value(size_t, const Value&)>& value_of) const;
  void merge_lines(std::vector<SourceFact>& facts) const;
  void merge_blocks(std::vector<SourceFact>& facts,
                    const std::vector<const Candidate*>& from) const;

  const RuleSet* rules_ = nullptr;
  std::vector<std::unique_ptr<FileFacts>> files_;
  std::unique_ptr<CallGraph> graph_;
  std::unique_ptr<Switchboard> switchboard_;
  std::unique_ptr<DeviceBuffers> device_buffers_;
  std::unique_ptr<DeadCode> dead_code_;
  std::unique_ptr<StepLoops> steps_;
  std::unique_ptr<Contexts> contexts_;
  std::vector<bool> stalls_nothing_;  ///< by file: nothing here trains, or nothing on a device
  bool names_no_device_ = false;      ///< of a program of LibTorch's
  bool only_generates_ = false;       ///< a program of C++, with weights trained elsewhere
  bool default_device_ = false;       ///< tensors of Python are made there, without being told so
  bool scatters_ = false;             ///< models are wrapped in DataParallel
  std::vector<uint32_t> with_workers_, without_workers_;  ///< files that make such a loader
  std::vector<uint32_t> prefetching_;  ///< files with a loader or a generator that fetches ahead
  std::vector<std::string> notes_;
};

}  // namespace stallscope
