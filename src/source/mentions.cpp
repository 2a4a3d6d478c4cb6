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
class Collector {
 public:
  void add(std::string_view name) {
    const uint32_t hash = name_hash(name);
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

/// "loss_labels", f"loss_{kind}": the name-like parts of a text.
void add_words(std::string_view text, Collector& out) {
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    while (at < text.size() && is_name(text.substr(at, 1))) ++at;
    if (at > start + 2) out.add(text.substr(start, at - start));
    ++at;
  }
}

/// Whether the project knows all that a class is made of.
bool is_own_class(const CallGraph& graph, std::string_view name, unsigned hops) {
  const std::span<const ClassFacts* const> classes = graph.classes_named(name);
  return hops > 0 && !classes.empty() && std::ranges::all_of(classes, [&](const ClassFacts* klass) {
           return std::ranges::all_of(klass->bases, [&](const std::string& base) {
             const std::string_view last = last_component(base);
             return last == "Module" || last == "object" || last == "ABC" ||
                    is_own_class(graph, last, hops - 1);
           });
         });
}

/// How many files name `name`, or what such names are put together from.
size_t mentions(const CallGraph& graph, std::string_view name) {
  std::vector<uint32_t> wanted = {name_hash(name)};
  for (size_t at = name.find('_', 1); at != std::string_view::npos; at = name.find('_', at + 1)) {
    wanted.push_back(name_hash(name.substr(0, at + 1)));  // f"loss_{kind}"
    wanted.push_back(name_hash(name.substr(at)));         // f"{kind}_loss"
  }
  return static_cast<size_t>(std::ranges::count_if(graph.files(), [&](const auto& file) {
    return std::ranges::any_of(
        wanted, [&](uint32_t hash) { return std::ranges::binary_search(file->mentions, hash); });
  }));
}

bool is_never_called(const CallGraph& graph, FunctionId id, unsigned hops) {
  const FunctionFacts& f = graph.function(id);
  constexpr uint32_t kCalledByOthers = kDecorated | kModuleLevel | kForward | kEntryPoint;
  if (f.parent != kNone || f.name.starts_with("__") || (f.flags & kCalledByOthers) != 0 ||
      graph.file(id).language != "python" ||
      (f.class_name.empty() && !f.name.starts_with('_')) ||  // what a package offers to others
      (!f.class_name.empty() && !is_own_class(graph, f.class_name, kMaxBases)))
    return false;
  const std::vector<uint32_t>& callers = graph.callers(id);
  if (callers.empty()) return mentions(graph, f.name) == 0;
  return hops > 0 &&
         std::ranges::all_of(callers,
                             [&](uint32_t e) {
                               const Edge& edge = graph.edges()[e];
                               return edge.call->form != CallForm::reference &&
                                      graph.file_index(edge.from) == graph.file_index(id) &&
                                      is_never_called(graph, edge.from, hops - 1);
                             }) &&
         mentions(graph, f.name) == 1;
}

}  // namespace

uint32_t name_hash(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

std::vector<uint32_t> mentions_of(const Ast& ast) {
  Collector out;
  for (NodeId id = 1; id < ast.size(); ++id) {
    const Node& node = ast[id];
    if (node.kind == K::attribute || node.kind == K::name || node.kind == K::keyword)
      out.add(node.text);
    else if (node.kind == K::import_name)
      out.add(last_component(node.text));
    else if (node.kind == K::string)
      add_words(ast.slice(id).substr(0, kLongestName), out);
  }
  return out.take();
}

std::vector<uint32_t> mentions_of(std::string_view text) {
  Collector out;
  add_words(text, out);
  return out.take();
}

bool is_never_called(const CallGraph& graph, FunctionId id) {
  return is_never_called(graph, id, kMaxHops);
}

}  // namespace stallscope
