// Dead code: what nothing in a project can call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "source/link/call_graph.h"
#include "source/link/taken_names.h"

namespace stallscope {

/// What nothing in a project can call.
class DeadCode {
 public:
  /// `graph` must outlive this.
  explicit DeadCode(const CallGraph& graph);

  /// Whether no file names `id`, or only what is not called itself does, and no class that it is of
  /// comes from outside, apart from torch's modules. What a module offers that nobody in the
  /// project uses, or a single file, may be there for others.
  bool has(FunctionId id) const;

  /// The same where nobody else can use it: the project is a program, no package, that uses the
  /// file.
  bool has_for_all(FunctionId id) const;

  /// Whether the project is a program of C++: one of its files begins it, beside tests and
  /// examples.
  bool is_program() const;

  /// Whether no file of a program of C++ names `id`, other than to declare it.
  bool is_unnamed(FunctionId id) const;

  /// Whether `id` is a method of a class that nothing makes: no other file names it, and in its own
  /// only classes and functions that are not used themselves do. A file that no other uses may be
  /// there for others.
  bool is_of_unused_class(FunctionId id) const;

  /// Whether `id` stands in a program that nothing imports and that trains nothing.
  bool is_in_predictor(FunctionId id) const;

  /// Whether another file imports the module that `file` is.
  bool is_imported(uint32_t file) const;

  /// Whether no other file can have an object of what `file`, a module of Python, defines: it is no
  /// program and knows no other module of the project, none imports it, and none finds modules by
  /// names that are put together.
  bool is_out_of_reach(uint32_t file) const { return out_of_reach_[file]; }

 private:
  enum class Answer : uint8_t { open, no, yes };
  bool decide(FunctionId id, unsigned hops) const;
  bool is_asked_by_name(std::string_view path) const;
  bool find_out_of_reach(uint32_t file) const;
  bool finds_modules() const;
  bool imports_own_modules(const FileFacts& facts) const;
  using Modules = std::unordered_map<uint32_t, uint32_t>;  ///< per hash of a name, who names it
  void find_used_modules() const;
  bool names(const Modules& modules, uint32_t file) const;
  bool is_used_module(uint32_t file) const;
  bool is_only_taken_apart(uint32_t file, uint32_t name) const;
  bool is_named_elsewhere(const ClassPlace& klass) const;
  bool is_offered(uint32_t file) const;
  void find_used_words() const;
  bool is_for_its_file(const ClassPlace& klass) const;
  bool is_unused(const ClassPlace& klass) const;
  bool is_unused_name(uint32_t file, uint32_t name) const;
  bool is_in_script(FunctionId id) const;
  static bool is_plain_base(const FunctionFacts& function, std::string_view base);
  bool is_own_class(const FunctionFacts& function) const;
  enum class Tests : uint8_t { count, pass_over };
  uint32_t files_with(uint32_t hash, Tests tests) const;
  uint32_t files_that_mention(std::string_view name, Tests tests) const;

  const CallGraph& graph_;
  std::vector<bool> out_of_reach_;  ///< per file: contexts ask for all of them
  mutable std::vector<Answer> answers_;
  mutable std::unordered_map<const ClassFacts*, bool> unused_;
  /// Per hash of a class's name the files that name it; made when first asked.
  mutable std::unordered_map<uint32_t, std::vector<uint32_t>> named_;
  /// Hashes of the names of the project's modules and their folders; made when first asked.
  mutable std::unordered_set<uint32_t> modules_;
  /// By imports, and by configurations and launch scripts; made when first asked.
  mutable Modules imported_, configured_;
  /// Hashes of what the files of C++ use, if one of them begins a program; made when first asked.
  mutable std::optional<std::unordered_set<uint32_t>> used_words_;
  /// Made when first asked.
  mutable std::optional<TakenNames> taken_;
  /// Folders, with their slashes, from which a package is installed; made when first asked.
  mutable std::optional<std::vector<std::string_view>> packages_;
  /// The file that has a hash, with and without tests; kSeveral, kNoFile.
  struct Naming {
    uint32_t any = kNone, beside_tests = kNone;
  };
  /// Made when first asked.
  mutable std::unordered_map<uint32_t, Naming> file_of_;
};

}  // namespace stallscope
