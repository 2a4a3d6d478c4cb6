#include "source/link/dead_code.h"

#include <algorithm>
#include <array>
#include <set>

#include "source/link/purpose.h"
#include "source/names/mentions.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/names/used_words.h"

namespace stallscope {
namespace {

constexpr unsigned kMaxBases = 8;
constexpr unsigned kCallersFollowed = 4;
constexpr uint32_t kNoFile = 0xffffffffu, kSeveral = 0xfffffffeu;

/// The one file of two answers, if it is one.
uint32_t both(uint32_t a, uint32_t b) {
  if (a == kNoFile || a == b) return b;
  return b == kNoFile ? a : kSeveral;
}

}  // namespace

DeadCode::DeadCode(const CallGraph& graph) : graph_(graph) {
  for (uint32_t file = 0; file < graph.files().size(); ++file)
    out_of_reach_.push_back(find_out_of_reach(file));
}

/// The file that has `hash`, kNoFile or kSeveral. What a test uses is used if others may use it
/// too.
uint32_t DeadCode::files_with(uint32_t hash, Tests tests) const {
  if (file_of_.empty()) {
    for (uint32_t f = 0; f < graph_.files().size(); ++f) {
      const bool test = is_test_file(*graph_.files()[f]);
      for (const uint32_t mention : graph_.files()[f]->mentions) {
        Naming& naming = file_of_[mention];
        naming.any = both(naming.any, f);
        if (!test) naming.beside_tests = both(naming.beside_tests, f);
      }
    }
  }
  const auto found = file_of_.find(hash);
  if (found == file_of_.end()) return kNoFile;
  return tests == Tests::count ? found->second.any : found->second.beside_tests;
}

/// The same of a method's name, or of what such names are put together from.
uint32_t DeadCode::files_that_mention(std::string_view name, Tests tests) const {
  uint32_t out = files_with(as_method(name_hash(name)), tests);
  const auto add = [&](std::string_view part) {
    out = both(out, files_with(as_method(name_hash(part)), tests));
  };
  for (size_t at = name.find('_', 1); at != std::string_view::npos; at = name.find('_', at + 1)) {
    add(name.substr(0, at + 1));  // f"loss_{kind}"
    add(name.substr(at));         // f"{kind}_loss"
  }
  return out;
}

/// Whether what a class derives from may be outside the project and says nothing of `function`.
bool DeadCode::is_plain_base(const FunctionFacts& function, std::string_view base) {
  return base == "Module" || base == "object" || base == "ABC" ||
         // Lightning's hooks have no names of this kind.
         (base == "LightningModule" && function.name.starts_with('_'));
}

/// Whether the project knows all that the class of `function` is made of. Generation by generation:
/// where many files have classes of the same names, there are more lines of descent than can be
/// followed one by one.
bool DeadCode::is_own_class(const FunctionFacts& function) const {
  std::set<std::string_view> generation = {function.class_name};
  for (unsigned hop = 0; hop < kMaxBases && !generation.empty(); ++hop) {
    std::set<std::string_view> bases;
    for (const std::string_view name : generation) {
      const std::span<const ClassPlace> classes = graph_.classes().named(name);
      if (classes.empty()) return false;
      for (const ClassPlace& klass : classes) {
        for (const std::string& base : klass.facts->bases) {
          const std::string_view last = last_component(base);
          if (!is_plain_base(function, last)) bases.insert(last);
        }
      }
    }
    generation = std::move(bases);
  }
  return generation.empty();
}

/// Whether any function of a file, or of the package it is in, may be asked for by its name.
bool DeadCode::is_asked_by_name(std::string_view path) const {
  const auto asked = [&](std::string_view module) {
    return files_with(all_of_module(module), Tests::count) != kNoFile;
  };
  return asked(module_name(path)) || (path.find('/') != std::string_view::npos &&
                                      asked(module_name(path.substr(0, path.rfind('/')))));
}

void DeadCode::find_used_modules() const {
  const auto add = [](Modules& modules, uint32_t hash, uint32_t by) {
    uint32_t& known = modules.try_emplace(hash, kNoFile).first->second;
    known = both(known, by);
  };
  for (uint32_t by = 0; by < graph_.files().size(); ++by) {
    const FileFacts& facts = *graph_.files()[by];
    // Of a file that names no framework only the names are known.
    const bool python = facts.language == "python";
    if (!python || facts.skipped) {
      for (const uint32_t mention : facts.mentions)
        add(python ? imported_ : configured_, mention, by);
    }
    // Of models.losses.focal either `focal` is a module or `losses`, which has it; what is before
    // these are folders.
    for (const auto& [bound, path] : facts.imports) {
      const std::string_view last = last_component(path);
      add(imported_, name_hash(last), by);
      if (path.size() > last.size())
        add(imported_,
            name_hash(
                last_component(std::string_view(path).substr(0, path.size() - last.size() - 1))),
            by);
    }
  }
}

bool DeadCode::names(const Modules& modules, uint32_t file) const {
  const auto found = modules.find(name_hash(module_name(graph_.files()[file]->path)));
  return found != modules.end() && found->second != file;
}

bool DeadCode::is_imported(uint32_t file) const {
  if (imported_.empty() && configured_.empty()) find_used_modules();
  return names(imported_, file);
}

/// Whether another file imports the module that `file` is, or a configuration or a launch script
/// names it. What a variable is called says nothing of modules.
bool DeadCode::is_used_module(uint32_t file) const {
  return is_imported(file) || names(configured_, file);
}

/// Whether others import of a module what they name, nobody the definition of that name: what else
/// has the name, as a text or an object's method, means another. `globals()[text]` finds all.
bool DeadCode::is_only_taken_apart(uint32_t file, uint32_t name) const {
  const FileFacts& facts = *graph_.files()[file];
  static const std::array<uint32_t, 3> finders = {name_hash("globals"), name_hash("locals"),
                                                  name_hash("vars")};
  if (!is_imported(file) || names(configured_, file) || is_offered(file) ||
      is_asked_by_name(facts.path) || std::ranges::any_of(finders, [&](uint32_t finder) {
        return std::ranges::binary_search(facts.mentions, finder);
      }))
    return false;
  if (!taken_) taken_.emplace(graph_);
  return !taken_->may_have(facts.path, name);
}

/// Whether the definition of that name in a file is used by nothing.
bool DeadCode::is_unused_name(uint32_t file, uint32_t name) const {
  const FileFacts& facts = *graph_.files()[file];
  for (const ClassFacts& c : facts.classes) {
    if (name_hash(c.name) == name) return is_unused({file, &c});
  }
  for (uint32_t f = 0; f < facts.functions.size(); ++f) {
    if (facts.functions[f].parent == kNone && facts.functions[f].class_name.empty() &&
        name_hash(facts.functions[f].name) == name)
      return has(graph_.id_of(file, f));
  }
  return false;
}

/// Whether a file that has no class of that name names it.
bool DeadCode::is_named_elsewhere(const ClassPlace& klass) const {
  if (named_.empty()) {
    for (const auto& file : graph_.files()) {
      for (const ClassFacts& c : file->classes) named_[name_hash(c.name)];
    }
    for (uint32_t f = 0; f < graph_.files().size(); ++f) {
      if (is_test_file(*graph_.files()[f])) continue;
      for (const uint32_t mention : graph_.files()[f]->mentions) {
        const auto found = named_.find(mention);
        if (found != named_.end()) found->second.push_back(f);
      }
    }
  }
  const std::span<const ClassPlace> same = graph_.classes().named(klass.facts->name);
  return std::ranges::any_of(named_[name_hash(klass.facts->name)], [&](uint32_t file) {
    return std::ranges::none_of(same, [&](const ClassPlace& other) { return other.file == file; });
  });
}

/// Whether modules are found by names that are put together.
bool DeadCode::finds_modules() const {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"import_module", "__import__", "locate"},
      [&](std::string_view finder) {
        return files_with(name_hash(finder), Tests::pass_over) != kNoFile;
      });
}

/// Whether a file imports anything that may be a module of the project, by any part of its path.
bool DeadCode::imports_own_modules(const FileFacts& facts) const {
  if (modules_.empty()) {
    for (const auto& file : graph_.files()) {
      if (file->language != "python") continue;
      modules_.insert(name_hash(module_name(file->path)));
      if (const size_t slash = file->path.rfind('/'); slash != std::string::npos)
        modules_.insert(name_hash(module_name(file->path.substr(0, slash))));
    }
  }
  return std::ranges::any_of(facts.imports, [&](const auto& import) {
    for (std::string_view rest = import.second; !rest.empty();) {
      const size_t dot = std::min(rest.find('.'), rest.size());
      if (modules_.contains(name_hash(rest.substr(0, dot)))) return true;
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    return false;
  });
}

bool DeadCode::find_out_of_reach(uint32_t file) const {
  static const uint32_t main = name_hash("__main__");
  const FileFacts& facts = *graph_.files()[file];
  return facts.language == "python" && !is_used_module(file) &&
         !std::ranges::binary_search(facts.mentions, main) && !imports_own_modules(facts) &&
         !is_asked_by_name(facts.path) && !finds_modules();
}

/// Whether others may use what a file defines: it is of a package that they install, or modules
/// are found by names that are put together.
bool DeadCode::is_offered(uint32_t file) const {
  if (!packages_) {
    packages_.emplace();
    if (finds_modules()) packages_->emplace_back();
    static const uint32_t setup = name_hash("setup"), project = name_hash("project"),
                          poetry = name_hash("poetry");
    for (const auto& f : graph_.files()) {
      const std::string_view path = f->path;
      const std::string_view name = path.substr(path.rfind('/') + 1);
      const auto says = [&](uint32_t word) {
        return std::ranges::binary_search(f->mentions, word);
      };
      if ((name == "setup.py" && says(setup)) ||
          (name == "pyproject.toml" && (says(project) || says(poetry))))
        packages_->push_back(path.substr(0, path.size() - name.size()));
    }
  }
  return std::ranges::any_of(*packages_, [&](std::string_view folder) {
    return graph_.files()[file]->path.starts_with(folder);
  });
}

/// Whether a class is a function of autograd that its package does not export: what others use is
/// the function around its apply().
bool DeadCode::is_for_its_file(const ClassPlace& klass) const {
  return std::ranges::any_of(klass.facts->bases,
                             [](const std::string& base) {
                               return base == "Function" || base.ends_with("autograd.Function");
                             }) &&
         files_with(as_export(name_hash(klass.facts->name)), Tests::count) == kNoFile;
}

bool DeadCode::is_unused(const ClassPlace& klass) const {
  // What is asked for again on the way keeps itself in use.
  const auto [answer, added] = unused_.try_emplace(klass.facts, false);
  if (!added) return answer->second;
  const FileFacts& file = *graph_.files()[klass.file];
  const bool out =
      file.language == "python" && !is_named_elsewhere(klass) && is_used_module(klass.file) &&
      (!is_offered(klass.file) || is_for_its_file(klass)) && !is_asked_by_name(file.path) &&
      std::ranges::all_of(klass.facts->users, [&](uint32_t user) {
        return user != 0 && is_unused_name(klass.file, user);
      });
  return unused_[klass.facts] = out;
}

bool DeadCode::is_of_unused_class(FunctionId id) const {
  const FunctionFacts& f = graph_.function(id);
  if (f.class_name.empty()) return false;
  const std::span<const ClassPlace> classes = graph_.classes().named(f.class_name);
  return std::ranges::any_of(classes, [&](const ClassPlace& klass) {
    return klass.file == graph_.file_index(id) && is_unused(klass);
  });
}

/// Whether `id` stands in a program that nothing imports: it has `if __name__ == "__main__":`.
bool DeadCode::is_in_script(FunctionId id) const {
  static const uint32_t main = name_hash("__main__");
  return std::ranges::binary_search(graph_.file(id).mentions, main) &&
         !is_used_module(graph_.file_index(id));
}

bool DeadCode::is_in_predictor(FunctionId id) const {
  // A model's own trial reads no command line.
  return is_in_script(id) && reads_arguments(graph_.file(id)) &&
         !is_about_training(graph_.file(id));
}

/// What the files of C++ use; nothing where none begins a program, or one could not be read.
void DeadCode::find_used_words() const {
  static const uint32_t main = name_hash("main");
  used_words_.emplace();
  bool program = false;
  for (const auto& file : graph_.files()) {
    if (!file->is_compiled()) continue;
    used_words_->insert(file->used_words.begin(), file->used_words.end());
    program |= std::ranges::binary_search(file->used_words, main) && !is_test_file(*file) &&
               !is_example_path(file->path);
    if (file->skipped && file->used_words.empty() && !file->note.empty()) {
      program = false;
      break;
    }
  }
  if (!program) used_words_->clear();
}

bool DeadCode::is_program() const {
  if (!used_words_) find_used_words();
  return !used_words_->empty();
}

bool DeadCode::is_unnamed(FunctionId id) const {
  constexpr uint32_t kCalledByOthers = kDecorated | kModuleLevel | kEntryPoint | kMainFunction;
  const FunctionFacts& f = graph_.function(id);
  if (!graph_.file(id).is_compiled() || f.parent != kNone || (f.flags & kCalledByOthers) != 0 ||
      !graph_.callers(id).empty() || f.name == f.class_name || f.name.size() < kShortestUsedWord ||
      f.name.starts_with('~') || f.name.starts_with("operator"))
    return false;
  const uint32_t hash = name_hash(f.name);
  return is_program() && !used_words_->contains(hash) &&
         files_with(hash, Tests::count) == kNoFile &&
         files_with(as_method(hash), Tests::count) == kNoFile;
}

bool DeadCode::decide(FunctionId id, unsigned hops) const {
  const FunctionFacts& f = graph_.function(id);
  if (is_of_unused_class(id)) return true;
  constexpr uint32_t kCalledByOthers = kDecorated | kModuleLevel | kForward | kHook | kEntryPoint;
  const bool in_script = f.class_name.empty() && is_in_script(id);
  if (f.parent != kNone || f.name.starts_with("__") || (f.flags & kCalledByOthers) != 0 ||
      graph_.file(id).language != "python" ||
      (f.class_name.empty() && !f.name.starts_with('_') && !in_script &&
       !is_used_module(graph_.file_index(id))) ||
      (!f.class_name.empty() && !is_own_class(f)) || is_asked_by_name(graph_.file(id).path))
    return false;
  const std::span<const uint32_t> callers = graph_.callers(id);
  // What a program defines and does not name nobody else can call.
  if (callers.empty() && in_script)
    return !std::ranges::binary_search(graph_.file(id).mentions, name_hash(f.name));
  if (callers.empty() && f.class_name.empty() &&
      is_only_taken_apart(graph_.file_index(id), name_hash(f.name)))
    return true;
  const bool offered = is_offered(graph_.file_index(id));
  const Tests tests = offered ? Tests::count : Tests::pass_over;
  // Names are put together for getattr(), which finds methods, and what a package gives others.
  const auto named_by = [&] {
    uint32_t out = kNoFile;
    if (f.class_name.empty()) out = files_with(name_hash(f.name), tests);
    if (!f.class_name.empty() || (offered && !f.name.starts_with('_')))
      out = both(out, files_that_mention(f.name, tests));
    if (offered) out = both(out, files_with(as_export(name_hash(f.name)), tests));
    return out;
  };
  const auto counts = [&](uint32_t e) {
    return tests == Tests::count || !is_test_file(graph_.file(graph_.edges()[e].from));
  };
  if (std::ranges::none_of(callers, counts)) return named_by() == kNoFile;
  return hops > 0 &&
         std::ranges::all_of(callers,
                             [&](uint32_t e) {
                               const Edge& edge = graph_.edges()[e];
                               return !counts(e) ||
                                      (edge.call->form != CallForm::reference &&
                                       graph_.file_index(edge.from) == graph_.file_index(id) &&
                                       decide(edge.from, hops - 1));
                             }) &&
         named_by() != kSeveral;
}

bool DeadCode::has(FunctionId id) const {
  if (answers_.empty()) answers_.assign(graph_.functions(), Answer::open);
  if (answers_[id] == Answer::open)
    answers_[id] = decide(id, kCallersFollowed) ? Answer::yes : Answer::no;
  return answers_[id] == Answer::yes;
}

bool DeadCode::has_for_all(FunctionId id) const {
  const auto file = static_cast<uint32_t>(graph_.file_index(id));
  return has(id) && is_used_module(file) && !is_offered(file);
}

}  // namespace stallscope
