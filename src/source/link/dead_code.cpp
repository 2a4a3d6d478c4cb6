#include "source/link/dead_code.h"

#include <algorithm>

#include "source/names/mentions.h"
#include "source/names/names.h"

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

/// The file that has `hash`, kNoFile or kSeveral.
uint32_t DeadCode::files_with(uint32_t hash) const {
  if (file_of_.empty()) {
    for (uint32_t f = 0; f < graph_.files().size(); ++f) {
      for (const uint32_t mention : graph_.files()[f]->mentions) {
        const auto [at, added] = file_of_.try_emplace(mention, f);
        if (!added) at->second = both(at->second, f);
      }
    }
  }
  const auto found = file_of_.find(hash);
  return found == file_of_.end() ? kNoFile : found->second;
}

/// The same of a name, or of what such names are put together from.
uint32_t DeadCode::files_that_mention(std::string_view name) const {
  uint32_t out = files_with(name_hash(name));
  for (size_t at = name.find('_', 1); at != std::string_view::npos; at = name.find('_', at + 1)) {
    out = both(out, files_with(name_hash(name.substr(0, at + 1))));  // f"loss_{kind}"
    out = both(out, files_with(name_hash(name.substr(at))));         // f"{kind}_loss"
  }
  return out;
}

/// Whether the project knows all that the class of `function` is made of.
bool DeadCode::is_own_class(const FunctionFacts& function, std::string_view name,
                            unsigned hops) const {
  const std::span<const ClassPlace> classes = graph_.classes().named(name);
  return hops > 0 && !classes.empty() && std::ranges::all_of(classes, [&](const ClassPlace& klass) {
           return std::ranges::all_of(klass.facts->bases, [&](const std::string& base) {
             const std::string_view last = last_component(base);
             return last == "Module" || last == "object" || last == "ABC" ||
                    // Lightning's hooks have no names of this kind.
                    (last == "LightningModule" && function.name.starts_with('_')) ||
                    is_own_class(function, last, hops - 1);
           });
         });
}

/// "losses" of a/losses.py and a/losses/__init__.py.
std::string_view DeadCode::module_of(std::string_view path) {
  if (path.ends_with("/__init__.py")) path.remove_suffix(12);
  path = path.substr(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

/// Whether another file names the module that `id` is in.
bool DeadCode::is_used_module(FunctionId id) const {
  const uint32_t file = files_with(name_hash(module_of(graph_.file(id).path)));
  return file != kNoFile && file != graph_.file_index(id);
}

/// Whether `id` stands in a program that nothing imports: it has `if __name__ == "__main__":`.
bool DeadCode::is_in_script(FunctionId id) const {
  static const uint32_t main = name_hash("__main__");
  return std::ranges::binary_search(graph_.file(id).mentions, main) && !is_used_module(id);
}

bool DeadCode::decide(FunctionId id, unsigned hops) const {
  const FunctionFacts& f = graph_.function(id);
  constexpr uint32_t kCalledByOthers = kDecorated | kModuleLevel | kForward | kHook | kEntryPoint;
  const bool in_script = f.class_name.empty() && is_in_script(id);
  if (f.parent != kNone || f.name.starts_with("__") || (f.flags & kCalledByOthers) != 0 ||
      graph_.file(id).language != "python" ||
      (f.class_name.empty() && !f.name.starts_with('_') && !in_script && !is_used_module(id)) ||
      (!f.class_name.empty() && !is_own_class(f, f.class_name, kMaxBases)) ||
      files_with(all_of_module(module_of(graph_.file(id).path))) != kNoFile)
    return false;
  const std::vector<uint32_t>& callers = graph_.callers(id);
  // Names are put together for getattr(), which finds methods: no module's own functions.
  const bool whole = f.class_name.empty() && f.name.starts_with('_');
  // What a program defines and does not name nobody else can call.
  if (callers.empty() && in_script)
    return !std::ranges::binary_search(graph_.file(id).mentions, name_hash(f.name));
  if (callers.empty())
    return (whole ? files_with(name_hash(f.name)) : files_that_mention(f.name)) == kNoFile;
  return hops > 0 &&
         std::ranges::all_of(callers,
                             [&](uint32_t e) {
                               const Edge& edge = graph_.edges()[e];
                               return edge.call->form != CallForm::reference &&
                                      graph_.file_index(edge.from) == graph_.file_index(id) &&
                                      decide(edge.from, hops - 1);
                             }) &&
         files_that_mention(f.name) != kSeveral;
}

bool DeadCode::has(FunctionId id) const {
  if (answers_.empty()) answers_.assign(graph_.functions(), Answer::open);
  if (answers_[id] == Answer::open)
    answers_[id] = decide(id, kCallersFollowed) ? Answer::yes : Answer::no;
  return answers_[id] == Answer::yes;
}

}  // namespace stallscope
