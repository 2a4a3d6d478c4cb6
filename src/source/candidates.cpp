#include "source/candidates.h"
#include "source/roles.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/file.h"

namespace stallscope {
namespace {

using K = NodeKind;

class Collector {
 public:
  Collector(const FileView& file, const RuleSet& rules, uint32_t language, FileFacts& facts)
      : file_(file),
        ast_(file.ast),
        rules_(rules),
        language_(language),
        facts_(facts),
        applies_(rules.clauses().size(), Answer::open) {}

  void run() {
    for (uint32_t c : rules_.by_matcher()) run_matcher(rules_.clauses()[c]);
    for (NodeId id = 1; id < ast_.size(); ++id) {
      const Node& node = ast_[id];
      if (node.kind == K::call) {
        std::string_view name = callee_name(ast_, id);
        // `from torch.distributed.fsdp import FullyShardedDataParallel as FSDP`
        const std::string_view imported = file_.names.import_of(name);
        if (!imported.empty() && ast_[ast_.child(id, Role::callee)].kind == K::name)
          name = last_component(imported);
        if (const auto* clauses = rules_.by_call(name)) {
          for (uint32_t c : *clauses) at(rules_.clauses()[c], id);
        }
        for (uint32_t c : rules_.by_any_call()) at(rules_.clauses()[c], id);
      }
      for (uint32_t c : rules_.by_kind(node.kind)) at(rules_.clauses()[c], id);
    }
    finish();
  }

 private:
  /// Whether the clause is about this file at all; searched for once.
  bool applies(const CompiledClause& clause) {
    Answer& answer = applies_[static_cast<size_t>(&clause - rules_.clauses().data())];
    if (answer == Answer::open) answer = suits_file(clause) ? Answer::yes : Answer::no;
    return answer == Answer::yes;
  }

  bool suits_file(const CompiledClause& clause) const {
    if ((clause.languages & language_) == 0) return false;
    const SourceClause& c = *clause.clause;
    if (!c.file_has.empty() && ast_.source.find(c.file_has) == std::string_view::npos) return false;
    return c.file_lacks.empty() || ast_.source.find(c.file_lacks) == std::string_view::npos;
  }

  void run_matcher(const CompiledClause& clause) {
    if (!applies(clause) || !file_.inference.has_tensors()) return;
    std::vector<Match> found;
    clause.matcher->find(file_, found);
    for (Match& match : found)
      consider(clause, match.node, std::move(match.bindings), &match.subject);
  }

  void at(const CompiledClause& clause, NodeId id) {
    const bool call =
        ast_[id].kind == K::call && std::ranges::any_of(clause.calls, [&](const CallName& n) {
          return is_call_of(file_, id, n);
        });
    if (call) {
      if (applies(clause)) consider(clause, id, {}, nullptr);
      return;
    }
    for (const Pattern& pattern : clause.patterns[static_cast<size_t>(ast_.grammar)]) {
      if (pattern.anchor() != ast_[id].kind) continue;
      // A pattern is about reading: x[m] does not match x[m] = 0.
      if (ast_[id].kind == K::subscript && ast_[id].role == Role::left &&
          ast_[ast_[id].parent].kind == K::assign)
        continue;
      if (auto bindings = pattern.match(ast_, file_.names, id)) {
        if (applies(clause)) consider(clause, id, std::move(*bindings), nullptr);
        return;
      }
    }
  }

  /// Whether a value is of the kind a rule asks for, or may be once other files are known.
  static bool fits(const Value& value, const KindWord& wanted, Certainty least) {
    if (std::ranges::find(wanted.kinds, value.kind) != wanted.kinds.end()) {
      return value.certainty >= least && (wanted.flags == 0 || (value.flags & wanted.flags) != 0);
    }
    if (value.kind != Kind::unknown || wanted.flags != 0) return false;
    return least == Certainty::unknown || value.dependency != 0;
  }

  static bool is_about_tensors(const KindWord& word) {
    return std::ranges::find(word.kinds, Kind::device_tensor) != word.kinds.end() ||
           std::ranges::find(word.kinds, Kind::mask) != word.kinds.end();
  }

  void consider(const CompiledClause& clause, NodeId id, Bindings bindings, const Value* given) {
    Value subject = given ? *given : subject_of(id);
    if (clause.on && !fits(subject, *clause.on, clause.certainty)) return;
    if (clause.on && !file_.inference.has_tensors() && is_about_tensors(*clause.on)) return;
    if ((clause.unless & kGuardHostValue) != 0 && subject.is_host() && !clause.on) return;
    for (const auto& [name, kind] : clause.where) {
      auto bound = bindings.find(name);
      if (bound == bindings.end()) return;
      const Value& value = file_.inference.at(bound->second);
      if (!fits(value, *kind, clause.certainty) || value.kind == Kind::unknown) return;
    }
    for (const ArgumentTest& test : clause.clause->args) {
      if (!argument_fits(id, test)) return;
    }
    for (const CompiledNested& nested : clause.nested) {
      if (nested_holds(id, nested) == nested.negated) return;
    }
    const uint32_t guards = file_.guards.around(id) | place_guards(id);
    if ((guards & clause.unless) != 0) return;
    add(clause, id, bindings, subject, guards);
  }

  /// What the call is about: a method's receiver, else a function's first argument.
  Value subject_of(NodeId id) const {
    if (ast_[id].kind != K::call) return file_.inference.at(id);
    NodeId callee = ast_.child(id, Role::callee);
    if (callee == kNoNode) return {};
    NodeId object = ast_[callee].kind == K::attribute ? ast_.child(callee, Role::object) : kNoNode;
    if (object == kNoNode || file_.names.resolve(callee).imported) {
      NodeId first = ast_.child(id, Role::argument);
      return first == kNoNode ? Value{} : file_.inference.at(first);
    }
    // x.cpu().item() reads x: the copy is part of the read.
    while (ast_[object].kind == K::call) {
      std::string_view name = callee_name(ast_, object);
      const bool copies =
          name == "cpu" || (name == "to" && file_.inference.at(object).kind == Kind::host_tensor &&
                            !has_keyword(object, "non_blocking"));
      if (!copies) break;
      NodeId inner = ast_.child(ast_.child(object, Role::callee), Role::object);
      if (inner == kNoNode) break;
      object = inner;
    }
    const Value& value = file_.inference.at(object);
    // What is called a batch and moved to the device came from the loader.
    const std::string_view method = ast_[callee].text;
    // A module's own input is on its device already, unless it is the loader's whole batch.
    const bool forward = (facts_.functions[file_.outline.function_of[id]].flags & kForward) != 0;
    const std::string_view root = root_name(object);
    if (value.kind == Kind::unknown && (method == "to" || method == "cuda") &&
        is_batch_name(root) && (!forward || contains_any(root, {"batch", "data"})))
      return likely(Kind::batch, kLoaded);
    return value;
  }

  /// The name that x[...].y, or the loop variable x over such, starts from.
  std::string_view root_name(NodeId object) const {
    NodeId at = object;
    while (ast_[at].kind == K::subscript || ast_[at].kind == K::attribute) {
      NodeId inner = ast_.child(at, Role::object);
      if (inner == kNoNode) break;
      if (ast_[inner].kind == K::name && ast_[inner].text == "self") return {};
      at = inner;
    }
    if (ast_[at].kind != K::name) return {};
    const std::string_view name = ast_[at].text;
    for (NodeId up = ast_[at].parent; up != kNoNode; up = ast_[up].parent) {
      if (ast_[up].kind == K::function) break;
      if (ast_[up].kind != K::comprehension) continue;
      for (NodeId clause : children(ast_, up)) {
        if (ast_[clause].kind != K::comp_for) continue;
        NodeId target = ast_.child(clause, Role::left), over = ast_.child(clause, Role::right);
        if (target != kNoNode && over != kNoNode && ast_[target].text == name &&
            ast_[over].kind == K::name)
          return ast_[over].text;
      }
    }
    return name;
  }

  bool argument_fits(NodeId call, const ArgumentTest& test) const {
    NodeId found = kNoNode;
    size_t position = 0;
    for (NodeId c : children(ast_, call)) {
      if (ast_[c].role != Role::argument) continue;
      const bool keyword = ast_[c].kind == K::keyword;
      const std::string name = keyword ? std::string(ast_[c].text) : std::to_string(position++);
      if (ast_[c].kind == K::star) return false;  // may hold anything
      for (size_t at = 0; at <= test.name.size();) {
        size_t slash = std::min(test.name.find('/', at), test.name.size());
        if (std::string_view(test.name).substr(at, slash - at) == name)
          found = keyword ? ast_.child(c, Role::value) : c;
        at = slash + 1;
      }
    }
    for (const std::string& wanted : test.any_of) {
      if (wanted == "absent") {
        if (found == kNoNode) return true;
      } else if (found == kNoNode) {
        continue;
      } else if (wanted == "present") {
        return true;
      } else if (wanted == "not-device-tensor") {
        if (!file_.inference.at(found).is_device()) return true;
      } else if (wanted == "kept-by-name") {
        // batch["lengths"]: counts that lie beside a batch's tensors are tensors.
        const NodeId key =
            ast_[found].kind == K::subscript ? ast_.child(found, Role::index) : kNoNode;
        if (key != kNoNode && ast_[key].kind == K::string &&
            !contains_any(ast_.slice(found), {"config", "cfg", "args", "opt", "param", "group"}))
          return true;
      } else if (wanted == "a-device") {
        if (!is_dtype(ast_.slice(found)) && !is_cpu(ast_.slice(found))) return true;
      } else if (wanted.starts_with("kind:")) {
        const KindWord* kind = kind_of(std::string_view(wanted).substr(5));
        const Value& value = file_.inference.at(found);
        if (kind && value.kind != Kind::unknown && fits(value, *kind, Certainty::likely))
          return true;
      } else if (wanted.starts_with("~")) {
        if (ast_.slice(found).find(std::string_view(wanted).substr(1)) != std::string_view::npos)
          return true;
      } else if (ast_.slice(found) == wanted) {
        return true;
      }
    }
    return false;
  }

  bool node_is(NodeId id, std::string_view word) const {
    const K kind = ast_[id].kind;
    if (word == "for") return kind == K::for_;
    if (word == "while") return kind == K::while_;
    if (word == "with") return kind == K::with_;
    if (word == "if") return kind == K::if_ || kind == K::elif_;
    if (word == "comprehension") return kind == K::comprehension;
    if (word == "loop") return kind == K::for_ || kind == K::while_ || kind == K::comprehension;
    if (word == "function") return kind == K::function;
    if (word == "call") return kind == K::call;
    return false;
  }

  bool nested_holds(NodeId id, const CompiledNested& nested) const {
    const NestedTest& test = *nested.test;
    if (test.node == "parameter-loop" || test.node == "inner-loop") {
      for (uint32_t loop = file_.outline.loop_of[id]; loop != kNone;
           loop = facts_.loops[loop].parent) {
        if (test.node == "parameter-loop" && facts_.loops[loop].over_parameters) return true;
        if (test.node == "inner-loop" &&
            (facts_.loops[loop].parent != kNone || facts_.loops[loop].comprehension))
          return true;
        // The only loop of a function that the step calls; the link tells it from the step's own.
        const uint32_t flags = facts_.functions[facts_.loops[loop].function].flags;
        if (test.node == "inner-loop" && (flags & (kMainFunction | kModuleLevel)) == 0) return true;
      }
      return false;
    }
    if (test.node == "assignment-of-self") return assigns_itself(id);
    if (test.node == "its-own-loop") return uses_loop_variable(id);
    auto one = [&](NodeId at) {
      if (!test.node.empty() && !node_is(at, test.node)) return false;
      if (test.calls.empty() && test.patterns.empty()) return true;
      if (std::ranges::any_of(nested.calls,
                              [&](const CallName& n) { return is_call_of(file_, at, n); }))
        return true;
      return std::ranges::any_of(
          nested.patterns[static_cast<size_t>(ast_.grammar)],
          [&](const Pattern& p) { return p.match(ast_, file_.names, at).has_value(); });
    };
    if (nested.inside) {
      for (NodeId at = ast_[id].parent; at != kNoNode; at = ast_[at].parent) {
        if (one(at)) return true;
        if (ast_[at].kind == K::with_ && with_has(at, one)) return true;
        if (ast_[at].kind == K::function && test.node != "function") return false;
      }
      return false;
    }
    for (NodeId at = id; at < ast_[id].end; ++at) {
      if (at != id && one(at)) return true;
    }
    return false;
  }

  /// A with statement's items are around its body.
  template <typename Test>
  bool with_has(NodeId with, Test test) const {
    for (NodeId item : children(ast_, with)) {
      if (ast_[item].kind != K::with_item) continue;
      for (NodeId at = item; at < ast_[item].end; ++at) {
        if (test(at)) return true;
      }
    }
    return false;
  }

  /// Whether what a call is about is, or is indexed by, the variable of the innermost loop.
  bool uses_loop_variable(NodeId id) const {
    const uint32_t loop = file_.outline.loop_of[id];
    if (loop == kNone) return false;
    NodeId callee = ast_.child(id, Role::callee);
    NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
    if (object == kNoNode) return false;
    auto bound = [&](NodeId target, std::string_view name) {
      for (NodeId at = target; at < ast_[target].end; ++at) {
        if (ast_[at].kind == K::name && ast_[at].text == name) return true;
      }
      return false;
    };
    const NodeId node = file_.outline.loops[loop];
    NodeId over = ast_.child(node, Role::right);
    const bool over_tensor = over != kNoNode && file_.inference.at(over).is_device();
    auto indexes = [&](NodeId name) {
      for (NodeId at2 = name; at2 != object && at2 != kNoNode; at2 = ast_[at2].parent) {
        if (ast_[at2].role == Role::index) return true;
      }
      return false;
    };
    for (NodeId at = object; at < ast_[object].end; ++at) {
      if (ast_[at].kind != K::name || (!over_tensor && !indexes(at))) continue;
      for (NodeId c : children(ast_, node)) {
        // for (int i = 0; ...) binds i in its first part.
        if (ast_.grammar == Grammar::cuda && ast_[c].role != Role::body &&
            counts_with(c, ast_[at].text))
          return true;
        if (ast_[c].role == Role::left && bound(c, ast_[at].text)) return true;
        NodeId target = ast_[c].kind == K::comp_for ? ast_.child(c, Role::left) : kNoNode;
        if (target != kNoNode && bound(target, ast_[at].text)) return true;
      }
    }
    return false;
  }

  /// Whether a part of a C for statement's head assigns `name`.
  bool counts_with(NodeId part, std::string_view name) const {
    for (NodeId at = part; at < ast_[part].end; ++at) {
      if (ast_[at].kind != K::assign) continue;
      NodeId left = ast_.child(at, Role::left);
      if (left != kNoNode && ast_[left].text == name) return true;
    }
    return false;
  }

  /// x = f(..., x, ...): the call rewrites its own input.
  bool assigns_itself(NodeId id) const {
    const Node& parent = ast_[ast_[id].parent];
    if (parent.kind != K::assign || ast_[id].role != Role::right) return false;
    NodeId left = ast_.child(ast_[id].parent, Role::left);
    if (left == kNoNode) return false;
    for (NodeId c : children(ast_, id)) {
      if (ast_[c].role == Role::argument && ast_.slice(c) == ast_.slice(left)) return true;
    }
    return false;
  }

  bool has_keyword(NodeId call, std::string_view name) const {
    for (NodeId c : children(ast_, call)) {
      if (ast_[c].kind == K::keyword && ast_[c].text == name) return true;
    }
    return false;
  }

  /// The text of x in x.to(...), x.cuda().
  std::string_view moved_from(NodeId call) const {
    NodeId callee = ast_.child(call, Role::callee);
    NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
    return object == kNoNode ? std::string_view() : ast_.slice(object);
  }

  /// Whether what is moved or read is an agent's action or observation, by name.
  bool is_environment_value(NodeId id) const {
    if (ast_[id].kind != K::call) return false;
    for (NodeId at = id; at < ast_[id].end; ++at) {
      if (ast_[at].kind == K::name && is_environment_name(ast_[at].text)) return true;
    }
    // actions = policy(x).cpu()
    NodeId at = ast_[id].parent;
    while (at != kNoNode && (ast_[at].kind == K::attribute || ast_[at].kind == K::call))
      at = ast_[at].parent;
    const NodeId left =
        at != kNoNode && ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
    return left != kNoNode && ast_[left].kind == K::name && is_environment_name(ast_[left].text);
  }

  /// Guards that do not come from conditions: where a value is kept.
  uint32_t place_guards(NodeId id) const {
    uint32_t guards = 0;
    const FunctionFacts& function = facts_.functions[file_.outline.function_of[id]];
    if ((function.flags & kCachedFunction) != 0) guards |= kGuardCached;
    if (is_environment_value(id)) guards |= kGuardEnvironment;
    for (NodeId at = ast_[id].parent; at != kNoNode; at = ast_[at].parent) {
      const Node& node = ast_[at];
      if (node.kind == K::call) {
        std::string_view name = callee_name(ast_, at);
        if (name == "register_buffer" || name == "Parameter" || name == "register_parameter")
          guards |= kGuardCached;
      }
      if (node.kind == K::assign && ast_.child(at, Role::left) != kNoNode) {
        NodeId left = ast_.child(at, Role::left);
        if (ast_[left].kind == K::subscript && contains_any(ast_.slice(left), {"cache"}))
          guards |= kGuardCached;
        // self.table = self.table.to(x.device) moves it once.
        if (ast_[left].kind == K::attribute && ast_[id].kind == K::call &&
            ast_[at].kind == K::assign && moved_from(id) == ast_.slice(left))
          guards |= kGuardCached;
      }
      if (node.kind == K::block || node.kind == K::module) break;
    }
    return guards;
  }

  void add(const CompiledClause& clause, NodeId id, const Bindings& bindings, const Value& subject,
           uint32_t guards) {
    const Node& node = ast_[id];
    Candidate out;
    out.rule = clause.rule;
    out.clause = static_cast<uint32_t>(&clause - rules_.clauses().data());
    out.function = file_.outline.function_of[id];
    out.loop = file_.outline.loop_of[id];
    out.first_byte = node.first_byte;
    out.last_byte = node.last_byte;
    out.first_line = node.first_line;
    out.last_line = node.last_line;
    out.column = node.column;
    NodeId callee = node.kind == K::call ? ast_.child(id, Role::callee) : kNoNode;
    out.anchor_line = callee == kNoNode ? node.first_line : ast_[callee].last_line;
    out.block = chain_of(id);
    out.guards = guards;
    out.in_inner_loop = std::ranges::any_of(clause.nested, [](const CompiledNested& n) {
      return n.test->node == "its-own-loop" || n.test->node == "inner-loop" ||
             n.test->node == "parameter-loop";
    });
    out.subject = subject;
    for (const auto& [name, bound] : bindings)
      out.metavariables.emplace_back(name, ast_.slice(bound));
    std::ranges::sort(out.metavariables);
    facts_.candidates.push_back(std::move(out));
  }

  /// The outermost expression of x.a().b(): one host block is one finding.
  NodeId chain_of(NodeId id) const {
    NodeId at = id;
    while (ast_[at].parent != kNoNode) {
      const Node& parent = ast_[ast_[at].parent];
      const bool chain = (parent.kind == K::attribute && ast_[at].role == Role::object) ||
                         (parent.kind == K::call && ast_[at].role == Role::callee) ||
                         (parent.kind == K::subscript && ast_[at].role == Role::object) ||
                         parent.kind == K::interpolation;
      if (!chain) break;
      at = ast_[at].parent;
    }
    return at;
  }

  std::string_view line_text(uint32_t first_byte) const {
    size_t start = ast_.source.rfind('\n', first_byte);
    start = start == std::string_view::npos ? 0 : start + 1;
    if (first_byte < ast_.source.size() && ast_.source[first_byte] == '\n') start = first_byte;
    size_t end = std::min(ast_.source.find('\n', first_byte), ast_.source.size());
    std::string_view line = ast_.source.substr(start, end - start);
    size_t text = line.find_first_not_of(" \t\r");
    line.remove_prefix(text == std::string_view::npos ? line.size() : text);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
      line.remove_suffix(1);
    return line.substr(0, 200);
  }

  void finish() {
    auto& all = facts_.candidates;
    std::ranges::stable_sort(
        all, {}, [](const Candidate& c) { return std::tuple(c.first_byte, c.rule, c.clause); });
    auto same = [](const Candidate& a, const Candidate& b) {
      return a.first_byte == b.first_byte && a.last_byte == b.last_byte && a.rule == b.rule &&
             a.clause == b.clause;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    for (Candidate& c : all) c.line_text = line_text(c.first_byte);
    std::map<std::tuple<uint32_t, uint32_t, std::string_view>, unsigned> seen;
    for (size_t i = 0; i < all.size(); ++i) {
      // Two clauses of a rule at one place are one occurrence.
      const bool again =
          i > 0 && all[i].rule == all[i - 1].rule && all[i].first_byte == all[i - 1].first_byte;
      all[i].ordinal =
          again ? all[i - 1].ordinal : seen[{all[i].rule, all[i].function, all[i].line_text}]++;
    }
  }

  const FileView& file_;
  const Ast& ast_;
  const RuleSet& rules_;
  const uint32_t language_;
  FileFacts& facts_;
  enum class Answer : uint8_t { open, no, yes };
  std::vector<Answer> applies_;  ///< per clause
};

}  // namespace

void collect_candidates(const FileView& file, const RuleSet& rules, uint32_t language,
                        FileFacts& facts) {
  Collector(file, rules, language, facts).run();
}

}  // namespace stallscope
