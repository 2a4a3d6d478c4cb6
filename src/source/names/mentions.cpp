#include "source/names/mentions.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "source/names/names.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

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

/// Notes which definitions name the classes of a file.
class ClassUsers {
 public:
  explicit ClassUsers(std::vector<ClassFacts>& classes) {
    for (ClassFacts& c : classes) {
      const uint32_t hash = name_hash(c.name);
      filter_.set(hash % filter_.size());
      // Of two classes of a name, either may be meant.
      if (!classes_.try_emplace(hash, &c).second) c.users = classes_[hash]->users = {0};
    }
  }

  /// Takes down that `by` names `name`; false if that is a class which names itself.
  bool add(uint32_t name, uint32_t by) {
    if (!filter_.test(name % filter_.size())) return true;
    const auto found = classes_.find(name);
    if (found == classes_.end()) return true;
    if (name == by) return false;
    std::vector<uint32_t>& users = found->second->users;
    if (std::ranges::find(users, by) == users.end()) users.push_back(by);
    return true;
  }

 private:
  std::unordered_map<uint32_t, ClassFacts*> classes_;
  std::bitset<1024> filter_;  ///< most names are none of classes
};

/// What `from losses import focal` binds, until it is used.
class ImportedNames {
 public:
  void add(uint32_t bound, uint32_t original) {
    filter_.set(bound % filter_.size());
    names_.emplace(bound, original);
  }
  /// Hands on the names under which the other files have what is used here, each once: branches may
  /// import one or the other as `train`.
  template <typename Take>
  void use(uint32_t bound, const Take& take) {
    if (!filter_.test(bound % filter_.size())) return;
    const auto [from, to] = names_.equal_range(bound);
    for (auto at = from; at != to; ++at) take(at->second);
    names_.erase(from, to);
  }

 private:
  std::unordered_multimap<uint32_t, uint32_t> names_;
  std::bitset<1024> filter_;  ///< most names are not imported
};

/// self.update
bool is_of_self(const Ast& ast, NodeId attribute) {
  const NodeId object = ast.child(attribute, Role::object);
  return object != kNoNode && ast[object].kind == K::name &&
         (ast[object].text == "self" || ast[object].text == "cls");
}

/// What a file runs as a program: test_ppo of `if __name__ == "__main__":` and `    test_ppo()`.
std::unordered_set<std::string_view> run_as_program(std::string_view source) {
  constexpr std::string_view kProgram = "\nif __name__ ==", kLine = "\n    ";
  std::unordered_set<std::string_view> out;
  const size_t program = source.find(kProgram);
  for (size_t at = source.find(kLine, program); program != source.npos && at != source.npos;
       at = source.find(kLine, at + 1)) {
    const std::string_view line = source.substr(at + kLine.size());
    const auto end = std::ranges::find_if_not(line, is_identifier_char);
    if (end != line.begin() && end != line.end() && *end == '(') out.emplace(line.begin(), end);
  }
  return out;
}

/// def _test_gate(): beside what it tests.
bool is_own_test(const Node& definition) {
  return definition.kind == K::function &&
         (definition.text.starts_with("test_") || definition.text.starts_with("_test"));
}

/// A text of `__all__ = ["Gate"]`.
bool is_listed_export(const Ast& ast, NodeId text) {
  const NodeId list = ast[text].parent;
  const K kind = ast[list].kind;
  if (kind != K::list && kind != K::tuple) return false;
  const NodeId left = ast.child(ast[list].parent, Role::left);
  return left != kNoNode && ast[left].text == "__all__";
}

/// f"loss_{kind}"
bool is_put_together(std::string_view text) {
  return text.starts_with('f') && text.find('{') != std::string_view::npos;
}

/// The name of a module of which any function may be asked for: getattr(losses, args.loss),
/// losses.__dict__[args.loss]
std::string_view module_asked(const Ast& ast, NodeId id) {
  NodeId module = kNoNode;
  if (ast[id].kind == K::attribute && ast[id].text == "__dict__") {
    module = ast.child(id, Role::object);
  } else if (ast[id].kind == K::call && callee_name(ast, id) == "getattr") {
    module = ast.child(id, Role::argument);
    const NodeId name = module == kNoNode ? kNoNode : ast[module].next;
    if (name == kNoNode || (ast[name].kind == K::string && !is_put_together(ast.slice(name))))
      return {};
  }
  return module == kNoNode ? std::string_view() : ast[module].text;
}

/// "loss_labels", f"loss_{kind}": the name-like parts of a text.
template <typename Add>
void add_words(std::string_view text, const Add& add) {
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    while (at < text.size() && is_name(text.substr(at, 1))) ++at;
    // "SD" by itself, but no "is" of a text
    if (at > start + 2 || (at == start + 2 && text.size() == 4))
      add(text.substr(start, at - start));
    ++at;
  }
}

/// "PSNR {} SSIM {}", beside "SSIM(window=11, channels=3)"
bool is_prose(std::string_view text) {
  return text.find(' ') != std::string_view::npos && text.find('(') == std::string_view::npos;
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

bool mentions(const std::vector<uint32_t>& mentioned, uint32_t name) {
  return std::ranges::binary_search(mentioned, name) ||
         std::ranges::binary_search(mentioned, as_method(name));
}

uint32_t option_hash(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    hash = (hash ^ static_cast<unsigned char>(small)) * 16777619u;
  }
  return hash;
}

uint32_t literal_hash(std::string_view literal) {
  if (literal.size() > 1 && (literal.front() == '"' || literal.front() == '\'')) {
    literal = literal.substr(1, literal.size() - 2);
  } else if (!literal.empty() && literal.front() >= '0' && literal.front() <= '9' &&
             literal.find('.') != std::string_view::npos && literal.find('e') == literal.npos) {
    // 2.0 and 2 are one number.
    while (literal.back() == '0') literal.remove_suffix(1);
    if (literal.back() == '.') literal.remove_suffix(1);
  }
  return name_hash(literal);
}

std::vector<uint32_t> mentions_of(const Ast& ast, const Names& names, bool package,
                                  std::vector<ClassFacts>& classes) {
  // dist.all_gather(), torch.optim.AdamW: not the program's own of that name
  const auto is_librarys = [&](NodeId id) {
    const Dotted& path = names.resolve(id);
    return path.imported && is_library_root(first_component(path.path));
  };
  // Synchronised batch norm and the like bring one of their own.
  const auto scatters = [](std::string_view name) {
    return is_one_of(name, {kScatters, "DataParallelWithCallback", "BalancedDataParallel"});
  };
  NameCollector out;
  ClassUsers users(classes);
  ImportedNames imported;
  std::optional<std::unordered_set<std::string_view>> program;  // read for the first test
  const auto is_run = [&](std::string_view test) {
    if (!program) program = run_as_program(ast.source);
    return program->contains(test);
  };
  NodeId end = 0;   // of the outermost definition around what is looked at
  uint32_t by = 0;  // that definition, 0 outside
  for (NodeId id = 1; id < ast.size(); ++id) {
    const Node& node = ast[id];
    if (id >= end) {
      by = 0;
      if (node.kind == K::class_ || node.kind == K::function) {
        end = node.end;
        by = name_hash(node.text);
        if (is_own_test(node) && !is_run(node.text)) {
          id = end - 1;
          continue;
        }
      }
    }
    // isinstance(model, nn.DataParallel) wraps nothing.
    if ((node.kind == K::attribute || node.kind == K::name) && scatters(node.text) &&
        (node.role == Role::callee || ast[node.parent].kind == K::assign))
      out.add(kScattersHere);
    // torch.cuda.FloatTensor: that it is used says where the program runs; a seed is for all.
    if (node.kind == K::attribute && is_one_of(node.text, {"cuda", "distributed", "xpu"}) &&
        !is_one_of(ast[node.parent].text, {"manual_seed", "manual_seed_all"}))
      out.add(node.text);
    const auto add_either = [&](std::string_view name) {
      const uint32_t hash = name_hash(name);
      if (users.add(hash, by)) out.add_hash(hash);
      out.add_hash(as_method(hash));
    };
    const auto add_name = [&](std::string_view name) {
      const uint32_t hash = name_hash(name);
      if (users.add(hash, by)) out.add_hash(hash);
      imported.use(hash, [&](uint32_t original) { out.add_hash(original); });
    };
    if (node.kind == K::keyword) {
      out.add(node.text);
      out.add_hash(as_method(name_hash(node.text)));
    } else if (node.kind == K::attribute) {
      if (is_librarys(id) && !scatters(node.text)) continue;
      if (is_of_self(ast, id)) {
        out.add_hash(as_method(name_hash(node.text)));
      } else {
        add_either(node.text);
      }
    } else if (node.kind == K::name) {
      if (is_librarys(id) && !scatters(node.text)) continue;
      add_name(node.text);
    } else if (node.kind == K::type) {
      add_words(ast.slice(id), add_name);
    } else if (node.kind == K::import_name) {
      const std::string_view name = last_component(node.text);
      const auto bound = names.imports().find(name);
      if (bound != names.imports().end() && is_library_root(first_component(bound->second)))
        continue;
      const bool member = ast[node.parent].kind == K::import_from && node.role != Role::object;
      const NodeId as = ast.child(id, Role::left);
      if (!member) {
        out.add(name);
        continue;
      }
      imported.add(name_hash(as == kNoNode ? name : ast[as].text), name_hash(name));
      if (package) out.add_hash(as_export(name_hash(name)));
    } else if (node.kind == K::string && is_listed_export(ast, id)) {
      out.add_hash(as_export(literal_hash(ast.slice(id))));
    } else if (node.kind == K::string && !is_docstring(ast, id) && !is_prose(ast.slice(id))) {
      add_words(ast.slice(id).substr(0, kLongestName), add_either);
    } else if (node.kind == K::decorator && ast[node.parent].first_child == id) {  // the first
      for (const NodeId beside : children(ast, node.parent)) {
        if (ast[beside].kind == K::class_) users.add(name_hash(ast[beside].text), 0);
      }
    }
    if (const std::string_view module = module_asked(ast, id); !module.empty())
      out.add_hash(all_of_module(module));
  }
  return out.take();
}

std::vector<uint32_t> mentions_of(std::string_view text) {
  NameCollector out;
  add_words(text, [&](std::string_view name) {
    out.add(name);
    out.add_hash(as_method(name_hash(name)));
  });
  return out.take();
}

}  // namespace stallscope
