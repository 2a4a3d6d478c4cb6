// ClassGraph: the classes of all files, what they derive from and what derives from them.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/facts/facts.h"
#include "source/facts/module_paths.h"

namespace stallscope {

/// A class and the file that defines it.
struct ClassPlace {
  uint32_t file = 0;
  const ClassFacts* facts = nullptr;

  bool operator==(const ClassPlace&) const = default;
};

class ClassGraph {
 public:
  /// Both must outlive it.
  ClassGraph(std::span<const std::unique_ptr<FileFacts>> files, const ModulePaths& modules);

  /// All classes of that name: scripts side by side each have their own Net.
  std::span<const ClassPlace> named(std::string_view name) const;
  /// Those that a file means by the name: its own, else what it imports, else all.
  std::vector<ClassPlace> visible(std::string_view name, uint32_t from_file) const;
  /// A class and what it derives from, nearest first.
  std::vector<ClassPlace> with_bases(const ClassPlace& klass) const;
  /// What derives from a class, over any number of steps, without itself. Worked out once for each
  /// class; may be asked from several threads.
  const std::vector<ClassPlace>& below(const ClassPlace& klass) const;
  /// Files of classes that, by their names, fetch ahead.
  std::vector<uint32_t> files_with_prefetchers() const;

 private:
  std::vector<ClassPlace> derived(const ClassPlace& klass) const;

  std::span<const std::unique_ptr<FileFacts>> files_;
  const ModulePaths& modules_;
  std::unordered_map<std::string_view, std::vector<ClassPlace>> classes_;
  std::unordered_map<std::string_view, std::vector<ClassPlace>> subclasses_;  ///< by base's name
  mutable std::mutex below_mutex_;
  mutable std::unordered_map<const ClassFacts*, std::vector<ClassPlace>> below_;
};

}  // namespace stallscope
