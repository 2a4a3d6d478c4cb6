#include "source/names/mentions.h"

#include <algorithm>
#include <array>
#include <string>

#include "source/names/names.h"

namespace stallscope {
namespace {

using K = NodeKind;
constexpr size_t kLongestName = 80;

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

uint32_t all_of_module(std::string_view name) {
  return name_hash(std::string(name) + ".*");
}

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

}  // namespace stallscope
