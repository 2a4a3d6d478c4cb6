#include "source/mentions.h"

#include <algorithm>
#include <array>

#include "source/names.h"

namespace stallscope {
namespace {

using K = NodeKind;
constexpr size_t kLongestName = 80;
constexpr unsigned kMaxBases = 8;
constexpr unsigned kMaxHops = 4;
constexpr uint32_t kNoFile = 0xffffffffu, kSeveral = 0xfffffffeu;

/// The one file of two answers, if it is one.
uint32_t both(uint32_t a, uint32_t b) {
  if (a == kNoFile || a == b) return b;
  return b == kNoFile ? a : kSeveral;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() < kLongestName &&
         std::ranges::all_of(
             text,
             [](char c) {
               return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9');
             });
}

/// Keeps each name once, mostly: what was seen a moment ago is not sorted again.
class NameCollector {
 public:
  void add(std::string_view name) { add_hash(name_hash(name)); }
  void add_hash(uint32_t hash) {
    uint32_t& slot = recent_[hash % recent_.size()];
    if (slot != hash) out_.push_back(slot = hash);
  }
  std::vector<uint32_t> take() {
    std::ranges::sort(out_);
    out_.erase(std::unique(out_.begin(), out_.end()), out_.end());
    return std::move(out_);
  }

 private:
  std::array<uint32_t, 1024> recent_{};
  std::vector<uint32_t> out_;
};

/// The name of a module of which any function may be asked for: getattr(losses, args.loss),
/// losses.__dict__[args.loss]
std::string_view module_asked(const Ast& ast, NodeId id) {
  NodeId module = kNoNode;
  if (ast[id].kind == K::attribute && ast[id].text == "__dict__") {
    module = ast.child(id, Role::object);
  } else if (ast[id].kind == K::call && callee_name(ast, id) == "getattr") {
    module = ast.child(id, Role::argument);
    const NodeId name = module == kNoNode ? kNoNode : ast[module].next;
    if (name == kNoNode || ast[name].kind == K::string) return {};
  }
  return module == kNoNode ? std::string_view() : ast[module].text;
}

/// What stands in mentions for all of a module's functions.
uint32_t all_of_module(std::string_view name) {
  return name_hash(std::string(name) + ".*");
}

/// "loss_labels", f"loss_{kind}": the name-like parts of a text.
void add_words(std::string_view text, NameCollector& out) {
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    while (at < text.size() && is_name(text.substr(at, 1))) ++at;
    if (at > start + 2) out.add(text.substr(start, at - start));
    ++at;
  }
}

/// A text that stands alone documents: it calls nothing by its name.
bool is_docstring(const Ast& ast, NodeId text) {
  const K parent = ast[ast[text].parent].kind;
  return parent == K::block || parent == K::module;
}

}  // namespace

uint32_t name_hash(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

uint32_t literal_hash(std::string_view literal) {
  if (literal.size() > 1 && (literal.front() == '"' || literal.front() == '\''))
    literal = literal.substr(1, literal.size() - 2);
  return name_hash(literal);
}

std::vector<uint32_t> mentions_of(const Ast& ast, const Names& names) {
  // dist.all_gather(), torch.optim.AdamW: not the program's own of that name
  const auto is_librarys = [&](NodeId id) {
    const Dotted& path = names.resolve(id);
    return path.imported && is_library_root(first_component(path.path));
  };
  NameCollector out;
  for (NodeId id = 1; id < ast.size(); ++id) {
    const Node& node = ast[id];
    if (node.kind == K::keyword) {
      out.add(node.text);
    } else if (node.kind == K::attribute || node.kind == K::name) {
      if (!is_librarys(id) || node.text == kScatters) out.add(node.text);
    } else if (node.kind == K::import_name) {
      const std::string_view name = last_component(node.text);
      const auto bound = names.imports().find(name);
      if (bound == names.imports().end() || !is_library_root(first_component(bound->second)))
        out.add(name);
    } else if (node.kind == K::string && !is_docstring(ast, id)) {
      add_words(ast.slice(id).substr(0, kLongestName), out);
    }
    if (const std::string_view module = module_asked(ast, id); !module.empty())
      out.add_hash(all_of_module(module));
  }
  return out.take();
}

std::vector<uint32_t> mentions_of(std::string_view text) {
  NameCollector out;
  add_words(text, out);
  return out.take();
}

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
  if (answers_[id] == Answer::open) answers_[id] = decide(id, kMaxHops) ? Answer::yes : Answer::no;
  return answers_[id] == Answer::yes;
}

}  // namespace stallscope
