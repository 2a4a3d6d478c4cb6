#include "rule/edit.h"

#include <algorithm>
#include <array>

#include "source/names/names.h"
#include "source/syntax/ast.h"

namespace stallscope {
namespace {

using K = NodeKind;
constexpr std::string_view kMark = "\xef\xbb\xbf";  ///< byte order mark

/// Makes the edits of one match.
class Editor {
 public:
  Editor(const CallEdit& edit, std::string_view source)
      : edit_(edit), ast_(parse_source(source, Grammar::python)), names_(ast_) {}

  std::vector<TextEdit> run(const MatchedCall& match) {
    for (NodeId id = 1; id < ast_.size(); ++id) {
      if (ast_[id].kind == K::call && ast_[id].first_byte == match.first_byte &&
          ast_[id].last_byte == match.last_byte) {
        if (!edit_.rebinds || rebinds(id)) make(id);
        break;
      }
    }
    return std::move(out_);
  }

 private:
  void make(NodeId call) {
    switch (edit_.kind) {
      case EditKind::none:
        return;
      case EditKind::remove_argument:
        return remove_argument(call);
      case EditKind::add_argument:
        return add_argument(call, edit_.argument + "=" + edit_.value);
      case EditKind::remove_statement:
        return remove_statement(call);
      case EditKind::device_in_factory:
        return device_in_factory(call);
    }
  }

  std::vector<NodeId> arguments(NodeId call) const {
    std::vector<NodeId> out;
    for (NodeId c : children(ast_, call)) {
      if (ast_[c].role == Role::argument) out.push_back(c);
    }
    return out;
  }

  bool has_keyword(NodeId call, std::string_view name) const {
    return std::ranges::any_of(arguments(call), [&](NodeId a) {
      return ast_[a].kind == K::keyword && ast_[a].text == name;
    });
  }

  /// `*args` may hold anything.
  bool has_star(NodeId call) const {
    return std::ranges::any_of(arguments(call), [&](NodeId a) { return ast_[a].kind == K::star; });
  }

  std::string_view between(size_t first, size_t last) const {
    return ast_.source.substr(first, last - first);
  }

  /// A cut that would take a comment along is not made.
  void cut(size_t first, size_t last) {
    if (between(first, last).find('#') == std::string_view::npos) out_.push_back({first, last, {}});
  }

  void remove_argument(NodeId call) {
    const std::vector<NodeId> all = arguments(call);
    const auto found = std::ranges::find_if(all, [&](NodeId a) {
      if (ast_[a].kind != K::keyword || ast_[a].text != edit_.argument) return false;
      NodeId value = ast_.child(a, Role::value);
      return value != kNoNode && ast_.slice(value) == edit_.value;
    });
    if (found == all.end()) return;
    const Node& node = ast_[*found];
    if (found + 1 != all.end()) {
      cut(node.first_byte, ast_[*(found + 1)].first_byte);
    } else if (found != all.begin()) {
      cut(ast_[*(found - 1)].last_byte, node.last_byte);
    } else {
      // The only one: a comma behind it goes too.
      size_t last = node.last_byte;
      const size_t next = ast_.source.find_first_not_of(" \t\r\n", last);
      if (next < ast_.source.size() && ast_.source[next] == ',') last = next + 1;
      cut(node.first_byte, last);
    }
  }

  void add_argument(NodeId call, const std::string& argument) {
    const std::string name = argument.substr(0, argument.find('='));
    const std::vector<NodeId> all = arguments(call);
    if (has_star(call) || has_keyword(call, name)) return;
    if (all.empty()) {
      const size_t close = ast_[call].last_byte - 1;
      out_.push_back({close, close, argument});
      return;
    }
    if (ast_[all.back()].kind == K::comprehension) return;  // f(x for x in y) takes no more
    out_.push_back({ast_[all.back()].last_byte, ast_[all.back()].last_byte, ", " + argument});
  }

  /// Whether the call is all of a statement `NAME = NAME.f(...)`.
  bool rebinds(NodeId call) const {
    const NodeId assign = ast_[call].parent;
    if (ast_[assign].kind != K::assign || ast_[call].role != Role::right) return false;
    const NodeId left = ast_.child(assign, Role::left);
    const NodeId callee = ast_.child(call, Role::callee);
    const NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
    return left != kNoNode && object != kNoNode && ast_[left].kind == K::name &&
           ast_[object].kind == K::name && ast_[left].text == ast_[object].text;
  }

  void remove_statement(NodeId call) {
    const Node& node = ast_[call];
    const Node& parent = ast_[node.parent];
    if (parent.kind != K::block && parent.kind != K::module) return;
    const size_t before = ast_.source.rfind('\n', node.first_byte);
    const size_t line = before == std::string_view::npos ? 0 : before + 1;
    const size_t newline = ast_.source.find('\n', node.last_byte);
    const size_t end = newline == std::string_view::npos ? ast_.source.size() : newline + 1;
    const auto blank = [&](size_t first, size_t last) {
      return between(first, last).find_first_not_of(" \t\r\n") == std::string_view::npos;
    };
    // Only what stands alone on its lines.
    if (!blank(line, node.first_byte) || !blank(node.last_byte, end)) return;
    const bool only = parent.kind == K::block && parent.first_child == call && node.next == kNoNode;
    if (only)
      out_.push_back({node.first_byte, node.last_byte, "pass"});
    else
      cut(line, end);
  }

  bool is_device(NodeId id) const {
    const std::string_view text = ast_.slice(id);
    if (ast_[id].kind == K::string)
      return text.find("cuda") != std::string_view::npos && text.front() != 'f';
    if (ast_[id].kind != K::name && ast_[id].kind != K::attribute) return false;
    return ast_[id].text == "device" || ast_[id].text.ends_with("_device");
  }

  /// torch.zeros(n).to(device): the same values come out of zeros(n, device=device).
  void device_in_factory(NodeId call) {
    static constexpr std::array<std::string_view, 6> kSame = {
        "torch.zeros", "torch.ones", "torch.full", "torch.empty", "torch.eye", "torch.tensor"};
    const NodeId callee = ast_.child(call, Role::callee);
    const NodeId factory = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
    if (factory == kNoNode || ast_[factory].kind != K::call) return;
    const Dotted& made = names_.resolve(ast_.child(factory, Role::callee));
    if (!made.imported || std::ranges::find(kSame, made.path) == kSame.end()) return;
    for (std::string_view other : {"device", "out", "requires_grad", "pin_memory"}) {
      if (has_keyword(factory, other)) return;
    }
    std::string device;
    const std::vector<NodeId> given = arguments(call);
    if (ast_[callee].text == "to" && given.size() == 1 && is_device(given[0]))
      device = ast_.slice(given[0]);
    else if (ast_[callee].text == "cuda" && given.empty())
      device = "\"cuda\"";
    else
      return;
    add_argument(factory, "device=" + device);
    if (!out_.empty()) cut(ast_[factory].last_byte, ast_[call].last_byte);
    if (out_.size() != 2) out_.clear();
  }

  const CallEdit& edit_;
  const Ast ast_;
  const Names names_;
  std::vector<TextEdit> out_;
};

}  // namespace

std::vector<TextEdit> edits_of(const CallEdit& edit, std::string_view source,
                               const MatchedCall& call) {
  if (edit.kind == EditKind::none) return {};
  if (!edit.file_has.empty() && source.find(edit.file_has) == std::string_view::npos) return {};
  const size_t mark = source.starts_with(kMark) ? kMark.size() : 0;
  std::vector<TextEdit> out = Editor(edit, source.substr(mark)).run(call);
  for (TextEdit& made : out) {
    made.first += mark;
    made.last += mark;
  }
  return out;
}

std::optional<std::string> apply_edits(std::string_view source, std::vector<TextEdit> edits) {
  std::ranges::sort(edits, {}, &TextEdit::first);
  std::string out;
  size_t at = 0;
  for (const TextEdit& edit : edits) {
    if (edit.first < at || edit.last > source.size()) return std::nullopt;
    out.append(source.substr(at, edit.first - at)).append(edit.text);
    at = edit.last;
  }
  out += source.substr(at);
  const auto unreadable = [](std::string_view text) {
    const size_t mark = text.starts_with(kMark) ? kMark.size() : 0;
    return parse_source(text.substr(mark), Grammar::python).error_bytes;
  };
  if (unreadable(out) > unreadable(source)) return std::nullopt;
  return out;
}

}  // namespace stallscope
