// The matcher for attention written out: product, softmax, product.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "source/match/matcher.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Of one function; with more it puts a sparse attention together from dense blocks.
constexpr size_t kMostAttentions = 3;
using Texts = std::vector<std::string_view>;
constexpr size_t kMaxNames = 6;  ///< of one value on its way through a function

bool has(const Texts& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The attributes of self that are softmax layers: self.attend = nn.Softmax(dim=-1).
Texts softmax_layers(const Ast& ast) {
  Texts out;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::call || callee_name(ast, id) != "Softmax" || ast[id].role != Role::right)
      continue;
    const NodeId left = ast.child(ast[id].parent, Role::left);
    if (left != kNoNode && ast[left].kind == K::attribute) out.push_back(ast[left].text);
  }
  return out;
}

/// Follows the scores of an attention from their product to the softmax, and its weights to the
/// product with the values, through masks, scales and dropout and under other names.
class Attention {
 public:
  Attention(const FileView& file, uint32_t function, const Texts& layers)
      : file_(file),
        ast_(file.ast),
        function_(function),
        body_(file.outline.functions[function]),
        layers_(layers) {}

  /// What `call` normalises; kNoNode when it is no softmax.
  NodeId normalised(NodeId call) const {
    const NodeId callee = ast_.child(call, Role::callee), first = ast_.child(call, Role::argument);
    if (callee == kNoNode) return kNoNode;
    if (ast_[callee].kind == K::call)
      return callee_name(ast_, callee) == "Softmax" ? first : kNoNode;
    const NodeId object = ast_.child(callee, Role::object);
    if (object != kNoNode && ast_.slice(object) == "self" && has(layers_, ast_[callee].text))
      return first;
    if (ast_[callee].text != "softmax") return kNoNode;
    return object == kNoNode || is_of_library(callee) ? first : object;
  }

  /// The product with a transposed operand that `subject`, normalised in `softmax`, is; or kNoNode.
  NodeId scores(NodeId subject, NodeId softmax) const {
    if (const NodeId product = scores_in(subject); product != kNoNode) return product;
    Texts names;
    add(subject, names);
    for (size_t i = 0; i < names.size(); ++i) {
      for (NodeId at = body_; at < softmax; ++at) {
        const NodeId right = assigned_to(at, names[i]);
        if (right == kNoNode || is_in_other_branch(at, softmax)) continue;
        if (const NodeId product = scores_in(right); product != kNoNode) return product;
        add(right, names);
      }
    }
    return kNoNode;
  }

  /// The product of which what `softmax` gives is an operand, if it is nothing else: weights that
  /// are handed on or kept have to be computed, which the fused kernel does not do. Or kNoNode.
  NodeId weighed(NodeId softmax) const {
    Texts names;
    NodeId multiplied = kNoNode;
    std::string_view overwritten;
    NodeId overwritten_at = kNoNode;
    for (NodeId at = body_; at < ast_[body_].end; ++at) {
      if (file_.outline.function_of[at] != function_) continue;
      if (overwritten_at != kNoNode && at >= overwritten_at) {
        std::erase(names, overwritten);
        overwritten_at = kNoNode;
      }
      if (ast_[at].kind == K::assign) {
        const NodeId left = ast_.child(at, Role::left), right = ast_.child(at, Role::right);
        const bool weights =
            right != kNoNode && left != kNoNode &&
            (leads_to(right, softmax) || (at > softmax && has(names, root(right))));
        if (weights && ast_[left].kind != K::name) return kNoNode;  // self.weights = weights
        if (weights && drops_in_jax(right)) return kNoNode;
        if (weights && names.size() < kMaxNames) names.push_back(ast_[left].text);
        if (!weights && left != kNoNode && at > softmax && has(names, ast_[left].text)) {
          overwritten = ast_[left].text;
          overwritten_at = ast_[at].end;
        }
      }
      if (at > softmax && ast_[at].kind == K::name && has(names, ast_[at].text) && is_kept(at))
        return kNoNode;
      if (multiplied != kNoNode || !is_product(at)) continue;
      const std::vector<NodeId> factors = operands(at);
      for (size_t i = 0; i < factors.size(); ++i) {
        if (!leads_to(factors[i], softmax) && (at < softmax || !has(names, root(factors[i]))))
          continue;
        if (is_as_it_was(factors[i], at, softmax) && !sums_over(at, i, axis(softmax)))
          return kNoNode;
        multiplied = at;
      }
    }
    return multiplied;
  }

 private:
  /// F.softmax of Python, torch::softmax and F::softmax of C++: not a tensor's method.
  bool is_of_library(NodeId callee) const {
    if (file_.names.resolve(callee).imported) return true;
    const std::string_view whole = ast_.slice(callee), name = ast_[callee].text;
    return whole.ends_with(name) && whole.substr(0, whole.size() - name.size()).ends_with("::");
  }

  /// The axis that a softmax names by a number, if it does.
  std::optional<int> axis(NodeId softmax) const {
    NodeId named = kNoNode;
    for (NodeId c : children(ast_, softmax)) {
      if (ast_[c].role != Role::argument) continue;
      named = ast_[c].kind != K::keyword                 ? c
              : is_one_of(ast_[c].text, {"dim", "axis"}) ? ast_.child(c, Role::value)
                                                         : named;
    }
    const std::string_view text = named == kNoNode ? std::string_view() : ast_.slice(named);
    const bool behind = text.starts_with('-');
    const std::string_view digit = text.substr(behind ? 1 : 0);
    if (digit.size() != 1 || digit[0] < '0' || digit[0] > '9') return {};
    return behind ? '0' - digit[0] : digit[0] - '0';
  }

  /// Whether an operand of `product` is what `softmax` gives, not transposed nor under a third
  /// name.
  bool is_as_it_was(NodeId operand, NodeId product, NodeId softmax) const {
    if (operand == softmax) return true;
    const std::string_view name = ast_[operand].text;
    if (ast_[operand].kind != K::name || assigned_to(ast_[softmax].parent, name) != softmax)
      return false;
    for (NodeId at = ast_[softmax].end; at < product; ++at) {
      if (assigned_to(at, name) != kNoNode) return false;
    }
    return true;
  }

  /// Whether a product may sum over that axis of its operand `index`: weights of which each column
  /// has the sum one, einsum("bij,bjd->bid", scores.softmax(1), v), are no attention.
  bool sums_over(NodeId product, size_t index, std::optional<int> axis) const {
    if (!axis) return true;
    const std::string_view name = callee_name_of(product);
    const bool first = index == 0;
    if (name == "bmm") return *axis == (first ? 2 : 1) || *axis == (first ? -1 : -2);
    if (name != "einsum") return *axis >= 0 || *axis == (first ? -1 : -2);
    const NodeId equation = ast_.child(product, Role::argument);
    std::string text(equation == kNoNode ? std::string_view() : ast_.slice(equation));
    std::erase_if(text, [](char c) { return c == ' ' || c == '"' || c == '\''; });
    const size_t arrow = text.find("->");
    if (arrow == std::string::npos || text.find('.') != std::string::npos) return true;
    size_t from = 0;
    for (size_t i = 0; i < index; ++i) {
      from = text.find(',', from);
      if (from++ >= arrow) return true;  // fewer operands than it is given
    }
    const std::string operand = text.substr(from, text.find_first_of(",-", from) - from);
    const int at = *axis < 0 ? static_cast<int>(operand.size()) + *axis : *axis;
    return at < 0 || at >= static_cast<int>(operand.size()) ||
           text.find(operand[static_cast<size_t>(at)], arrow) == std::string::npos;
  }

  /// nn.Dropout(rate)(weights) of flax: fused kernels of JAX drop none of the weights.
  bool drops_in_jax(NodeId call) const {
    const NodeId callee = ast_[call].kind == K::call ? ast_.child(call, Role::callee) : kNoNode;
    return callee != kNoNode && ast_[callee].kind == K::call &&
           callee_name(ast_, callee) == "Dropout" &&
           file_.names.resolve(ast_.child(callee, Role::callee)).path.starts_with("flax.");
  }

  /// Whether two places stand in branches of one `if` of which one runs at most.
  bool is_in_other_branch(NodeId a, NodeId b) const {
    NodeId below = a, at = ast_[a].parent;
    while (at != kNoNode && !ast_.inside(b, at)) below = std::exchange(at, ast_[at].parent);
    return at != kNoNode && ast_[at].kind == K::if_ && ast_[below].role != Role::condition;
  }

  /// Whether a value is returned or appended as it is; `weights if wanted else None` mostly is not.
  bool is_kept(NodeId value) const {
    for (NodeId at = value; ast_[at].parent != kNoNode; at = ast_[at].parent) {
      const NodeId up = ast_[at].parent;
      switch (ast_[up].kind) {
        case K::return_:
          return true;
        case K::tuple:
        case K::list:
        case K::dict:
        case K::pair:
          break;
        case K::attribute:
          if (ast_[at].role != Role::object) return false;
          break;
        case K::call:
          if (ast_[at].role == Role::argument) return callee_name(ast_, up) == "append";
          if (is_product(up)) return false;
          break;
        default:
          return false;
      }
    }
    return false;
  }

  bool is_product(NodeId id) const {
    if (ast_[id].kind == K::binary) return ast_[id].text == "@";
    if (ast_[id].kind != K::call) return false;
    const std::string_view name = callee_name(ast_, id);
    return name == "matmul" || name == "bmm" || name == "einsum" || name == "baddbmm";
  }

  /// What a product multiplies: without einsum's equation.
  std::vector<NodeId> operands(NodeId product) const {
    std::vector<NodeId> out;
    const NodeId callee = ast_.child(product, Role::callee);
    if (callee != kNoNode && !file_.names.resolve(callee).imported) {
      const NodeId object = ast_.child(callee, Role::object);
      if (object != kNoNode) out.push_back(object);
    }
    for (NodeId c : children(ast_, product)) {
      if (ast_[c].role == Role::callee || ast_[c].kind == K::string || ast_[c].kind == K::keyword)
        continue;
      // torch::einsum("bct,bcs->bts", {q, k})
      if (ast_.grammar == Grammar::cuda && ast_[c].kind == K::list)
        for (NodeId each : children(ast_, c)) out.push_back(each);
      else
        out.push_back(c);
    }
    return out;
  }

  /// k = k.transpose(-2, -1) before q @ k.transpose(-2, -1): channels attend to channels, and for
  /// the fused kernel the whole sequence would be one head.
  bool is_over_channels(NodeId product) const {
    for (NodeId operand : operands(product)) {
      const NodeId callee = ast_.child(operand, Role::callee);
      const NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
      if (object == kNoNode || ast_[object].kind != K::name) continue;
      for (NodeId at = body_; at < product; ++at) {
        const NodeId right = assigned_to(at, ast_[object].text);
        if (right != kNoNode && ast_.slice(right) == ast_.slice(operand)) return true;
      }
    }
    return false;
  }

  /// The product within an expression that may give scores, or kNoNode.
  NodeId scores_in(NodeId id) const {
    // torch.cat((q @ k.mT, other)): no fused kernel takes scores of two kinds.
    if (callee_name_of(id) == "cat") return kNoNode;
    for (NodeId at = id; at < ast_[id].end; ++at) {
      if (is_product(at) && file_.outline.function_of[at] == function_ && !is_over_channels(at) &&
          (callee_name_of(at) == "bmm" || callee_name_of(at) == "baddbmm" ||
           ast_.slice(at).ends_with(".T") ||
           contains_any(ast_.slice(at),
                        {"transpose", ".t()", ".mt", ".t)", "permute", "movedim", "moveaxis",
                         "swapaxes", "swapdims", "...d", "einsum", "k_t", "kt", "key", "hk"})))
        return at;
    }
    return kNoNode;
  }

  std::string_view callee_name_of(NodeId id) const {
    return ast_[id].kind == K::call ? callee_name(ast_, id) : std::string_view();
  }

  /// The value assigned to `name` at the statement `at`, or kNoNode.
  NodeId assigned_to(NodeId at, std::string_view name) const {
    if (ast_[at].kind != K::assign || file_.outline.function_of[at] != function_) return kNoNode;
    const NodeId left = ast_.child(at, Role::left);
    return left != kNoNode && ast_[left].kind == K::name && ast_[left].text == name
               ? ast_.child(at, Role::right)
               : kNoNode;
  }

  /// What an elementwise expression is about: `scores` in (scores * scale).masked_fill(mask, x),
  /// in self.dropout(scores) and in torch.where(mask, scores, x).
  NodeId below(NodeId id) const {
    switch (ast_[id].kind) {
      case K::attribute:
      case K::subscript:
        return ast_.child(id, Role::object);
      case K::unary:
        return ast_[id].first_child;
      case K::binary: {
        const NodeId first = ast_[id].first_child;
        if (first == kNoNode) return kNoNode;  // broken syntax
        const bool scale = ast_[first].kind == K::number || ast_[first].kind == K::attribute ||
                           contains_any(ast_.slice(first), {"scale"});
        return scale ? ast_[first].next : first;
      }
      case K::call: {
        const NodeId callee = ast_.child(id, Role::callee);
        const NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
        const NodeId first = ast_.child(id, Role::argument);
        if (object == kNoNode || ast_.slice(object) == "self" || is_of_library(callee) ||
            ast_[callee].text == "forward")  // drop->forward(scores)
          return first != kNoNode && callee_name(ast_, id) == "where" ? ast_[first].next : first;
        return object;
      }
      default:
        return kNoNode;
    }
  }

  std::string_view root(NodeId id) const {
    while (id != kNoNode && ast_[id].kind != K::name && !is_product(id)) id = below(id);
    return id != kNoNode && ast_[id].kind == K::name ? ast_[id].text : std::string_view();
  }

  bool leads_to(NodeId id, NodeId wanted) const {
    while (id != kNoNode && id != wanted && !is_product(id)) id = below(id);
    return id == wanted;
  }

  void add(NodeId value, Texts& names) const {
    const std::string_view name = root(value);
    if (!name.empty() && names.size() < kMaxNames && !has(names, name)) names.push_back(name);
  }

  const FileView& file_;
  const Ast& ast_;
  const uint32_t function_;
  const NodeId body_;
  const Texts& layers_;
};

/// class LlamaSdpaAttention(LlamaAttention): whether a class is the eager one of several of its
/// file, chosen where the fused kernel cannot run.
bool has_fused_kin(const FileView& file, uint32_t function) {
  const Ast& ast = file.ast;
  const uint32_t klass = file.outline.class_of[function];
  if (klass == kNone || ast.grammar != Grammar::python) return false;
  const std::string_view name = ast[file.outline.classes[klass]].text;
  return std::ranges::any_of(file.outline.classes, [&](NodeId other) {
    const std::string_view head = ast.slice(other).substr(0, ast.slice(other).find(':'));
    return contains_any(ast[other].text, {"sdpa", "flash"}) &&
           head.find("(" + std::string(name) + ")") != std::string_view::npos;
  });
}

}  // namespace

void find_manual_attention(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  if (!holds_text(ast.source, "oftmax")) return;  // softmax and Softmax
  const Texts layers = softmax_layers(ast);
  for (const auto& [function, made] : calls_by_function(file)) {
    // With the fused kernel beside it this is the branch for where that cannot run.
    const bool has_fused = std::ranges::any_of(made, [&](NodeId id) {
      return contains_any(callee_name(ast, id),
                          {"scaled_dot_product", "flash_attn", "memory_efficient_attention",
                           "flash_attention", "flex_attention", "fused_attn", "sdpa"});
    });
    if (has_fused || has_fused_kin(file, function)) continue;
    const Attention attention(file, function, layers);
    std::vector<Match> found;
    for (NodeId id : made) {
      const NodeId subject = attention.normalised(id);
      if (subject == kNoNode) continue;
      const NodeId scores = attention.scores(subject, id);
      const NodeId weighed = scores == kNoNode ? kNoNode : attention.weighed(id);
      if (weighed != kNoNode)
        found.push_back({id, likely(Kind::device_tensor), {}, {scores, weighed}});
    }
    if (found.size() <= kMostAttentions) std::ranges::copy(found, std::back_inserter(out));
  }
}

}  // namespace stallscope
