#include "source/guards/switches.h"

#include <algorithm>
#include <string>

#include "source/names/mentions.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;
using Test = Switch::Test;

Test opposite(Test test) {
  switch (test) {
    case Test::on:
      return Test::off;
    case Test::off:
      return Test::on;
    case Test::given:
      return Test::missing;
    case Test::missing:
      return Test::given;
    case Test::equals:
      return Test::differs;
    case Test::differs:
      return Test::equals;
    case Test::present:  // the other way round it is not kept
      break;
  }
  return Test::present;
}

uint32_t first_needed(const std::vector<Switch>& asked) {
  const auto found = std::ranges::find_if(
      asked, [](const Switch& s) { return s.test == Test::on || s.test == Test::given; });
  return found == asked.end() ? 0 : found->name;
}

/// args, self.cfg, opt: what holds a program's options. Of other objects a library may set what the
/// program never does: p.grad.
bool holds_options(std::string_view name) {
  return has_word(
      lower(snake_case(name)),
      {"args",   "arg",    "opt",      "opts",          "option",  "options", "cfg", "cfgs",
       "conf",   "config", "configs",  "configuration", "hparams", "hps",     "hp",  "flags",
       "params", "param",  "settings", "pipe",          "kwargs",  "self"});
}

/// What is set from outside: by the launcher, by the machine, by PyTorch; and what counts.
bool is_set_elsewhere(std::string_view name) {
  return has_word(
             lower(snake_case(name)),
             {"train", "eval",        "grad",     "cuda",   "gpu",   "gpus",  "device", "rank",
              "world", "fp16",        "bf16",     "amp",    "half",  "mixed", "ddp",    "local",
              "node",  "distributed", "parallel", "resume", "step",  "epoch", "iter",   "index",
              "idx",   "i",           "it",       "count",  "scaler"}) ||
         is_one_of(last_component(name), {"training", "is_training", "do_training"}) ||
         contains_any(name, {"cuda", "gpu", "distributed"});
}

/// Whether nothing behind the block runs.
bool leaves(const Ast& ast, NodeId block) {
  const NodeId last = ast[block].kind == K::block ? last_child(ast, block) : block;
  const K kind = ast[last].kind;
  return last != kNoNode && (kind == K::return_ || kind == K::leave || kind == K::raise);
}

}  // namespace

Switches::Switches(const Ast& ast, FileFacts& facts) : ast_(ast), facts_(facts) {
  if (facts_.switches.empty()) facts_.switches.emplace_back();
  if (ast.grammar == Grammar::python) of_statement_.resize(ast.size(), kNotAsked);
}

uint32_t Switches::around(NodeId id) {
  if (ast_.grammar != Grammar::python) return 0;
  std::vector<Switch> own;
  const NodeId statement = collect(id, own);
  return keep(std::move(own), statement == kNoNode ? 0 : around_statement(statement));
}

uint32_t Switches::needed_around(NodeId id) const {
  for (NodeId at = id; at != kNoNode;) {
    std::vector<Switch> asked;
    const NodeId statement = collect(at, asked);
    if (const uint32_t name = first_needed(asked); name != 0) return name;
    at = statement == kNoNode ? kNoNode : ast_[statement].parent;
  }
  return 0;
}

uint32_t Switches::needed_by(NodeId condition) const {
  std::vector<Switch> asked;
  if (condition != kNoNode) of_condition(condition, true, asked);
  return first_needed(asked);
}

/// Adds those between `id` and the statement of a block that it is in, which it returns; kNoNode at
/// the top.
NodeId Switches::collect(NodeId id, std::vector<Switch>& out) const {
  NodeId below = id;
  for (NodeId at = ast_[id].parent; at != kNoNode; below = at, at = ast_[at].parent) {
    const K kind = ast_[at].kind;
    if (kind == K::function || kind == K::class_) break;
    if (kind == K::block) return below;
    const Role role = ast_[below].role;
    if (kind == K::boolean && role == Role::right) {
      of_condition(ast_.child(at, Role::left), ast_[at].text == "and", out);
    } else if (kind == K::if_ || kind == K::elif_ || kind == K::conditional) {
      if (role == Role::condition || (role == Role::alternative && ast_[below].kind == K::elif_))
        continue;
      of_condition(ast_.child(at, Role::condition), role != Role::alternative, out);
    }
  }
  return kNoNode;
}

/// The list of what is around a statement of a block.
uint32_t Switches::around_statement(NodeId statement) {
  if (of_statement_[statement] != kNotAsked) return of_statement_[statement];
  const NodeId block = ast_[statement].parent;
  std::vector<Switch> around_block;
  const NodeId outer = collect(block, around_block);
  const uint32_t around =
      keep(std::move(around_block), outer == kNoNode ? 0 : around_statement(outer));
  // `if self.schedule is None: return`: what follows in the block waits for it.
  std::vector<Switch> left;
  uint32_t list = around;
  for (const NodeId at : children(ast_, block)) {
    of_statement_[at] = list;
    const NodeId body = ast_[at].kind == K::if_ ? ast_.child(at, Role::consequence) : kNoNode;
    if (body == kNoNode || ast_.child(at, Role::alternative) != kNoNode || !leaves(ast_, body))
      continue;
    const size_t before = left.size();
    of_condition(ast_.child(at, Role::condition), false, left);
    if (left.size() > before) list = keep(left, around);
  }
  return of_statement_[statement];
}

/// The number of `list` with those that are further out.
uint32_t Switches::keep(std::vector<Switch> list, uint32_t around) {
  if (list.empty()) return around;
  for (const Switch& s : facts_.switches[around]) list.push_back(s);
  if (list.size() > kMost) list.resize(kMost);
  if (list != facts_.switches.back()) facts_.switches.push_back(std::move(list));
  return static_cast<uint32_t>(facts_.switches.size() - 1);
}

/// What it takes for `condition` to hold, or not to.
void Switches::of_condition(NodeId condition, bool holds, std::vector<Switch>& out) const {
  const Node& node = ast_[condition];
  if (node.kind == K::unary && node.text == "not") {
    of_condition(node.first_child, !holds, out);
  } else if (node.kind == K::boolean) {
    // Of `a or b` that holds nobody knows which.
    if ((node.text == "and") != holds) return;
    for (NodeId part : children(ast_, condition)) of_condition(part, holds, out);
  } else if (node.kind == K::compare) {
    of_compare(condition, holds, out);
  } else if (const NodeId what = asked_to_exist(ast_, condition); what != kNoNode) {
    add(what, holds ? Test::given : Test::missing, 0, out);
  } else {
    add(condition, holds ? Test::on : Test::off, 0, out);
  }
}

void Switches::of_compare(NodeId compare, bool holds, std::vector<Switch>& out) const {
  const NodeId left = ast_.child(compare, Role::left), right = ast_.child(compare, Role::right);
  if (left == kNoNode || right == kNoNode || ast_[right].next != kNoNode) return;
  const std::string_view between =
      ast_.source.substr(ast_[left].last_byte, ast_[right].first_byte - ast_[left].last_byte);
  std::string op;
  std::ranges::copy_if(between, std::back_inserter(op), [](char c) { return c != ' '; });
  const std::string_view value = ast_.slice(right);
  if (op == "in" && ast_[left].kind == K::string && holds) {
    // if "mask_token" in cfg:
    const std::string_view key = ast_.slice(left);
    if (key.size() > 2 && holds_options(last_component(ast_.slice(right))))
      out.push_back({option_hash(key.substr(1, key.size() - 2)), 0, Test::present});
    return;
  }
  const bool is = op == "is" || op == "==", is_not = op == "isnot" || op == "!=";
  if ((is || is_not) && (value == "True" || value == "False"))
    return of_condition(left, holds == (is == (value == "True")), out);
  Test test{};
  if (is && value == "None")
    test = Test::missing;
  else if (is_not && value == "None")
    test = Test::given;
  else if ((op == ">" || op == "!=") && (value == "0" || value == "0.0"))
    test = Test::on;
  else if ((op == "==" || op == "!=") &&
           (ast_[right].kind == K::string || ast_[right].kind == K::number))
    test = op == "==" ? Test::equals : Test::differs;
  else if (holds && ((op == ">" && value == "1") || (op == ">=" && value == "2")))
    return add(left, Test::differs, literal_hash("1"), out);
  else
    return;
  add(left, holds ? test : opposite(test), literal_hash(value), out);
}

void Switches::add(NodeId asked, Test test, uint32_t value, std::vector<Switch>& out) const {
  const std::string_view name = name_of(asked);
  if (name.empty() || is_set_elsewhere(name)) return;
  out.push_back({option_hash(name), value, test});
}

/// fuse of `fuse`, self.fuse, args.model.fuse, cfg["fuse"], cfg.get("fuse"); or nothing.
std::string_view Switches::name_of(NodeId asked) const {
  const Node& node = ast_[asked];
  if (node.kind == K::name) return node.text;
  if (node.kind == K::attribute) {
    const NodeId object = ast_.child(asked, Role::object);
    const std::string_view holder = last_component(ast_.slice(object));
    return holds_options(holder) || ast_.slice(object).starts_with("self.") ? node.text
                                                                            : std::string_view();
  }
  NodeId key = kNoNode;
  std::string_view holder;
  if (node.kind == K::subscript) {
    key = ast_.child(asked, Role::index);
    holder = ast_.slice(ast_.child(asked, Role::object));
  } else if (node.kind == K::call && callee_name(ast_, asked) == "get") {
    key = ast_.child(asked, Role::argument);
    holder = ast_.slice(ast_.child(ast_.child(asked, Role::callee), Role::object));
  }
  if (key == kNoNode || ast_[key].kind != K::string || !holds_options(last_component(holder)))
    return {};
  const std::string_view text = ast_.slice(key);
  return text.size() > 2 && text[0] != 'f' ? text.substr(1, text.size() - 2) : std::string_view();
}

}  // namespace stallscope
