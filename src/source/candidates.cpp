#include "source/candidates.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/file.h"
#include "source/clause_tests.h"
#include "source/roles.h"

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
        tests_(file, facts),
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
    return c.file_has.empty() || ast_.source.find(c.file_has) != std::string_view::npos;
  }

  /// Whether the file lacks what the clause wants it to lack; what only another class has is not
  /// this one's.
  bool lacks(const CompiledClause& clause, NodeId id) const {
    const std::string& word = clause.clause->file_lacks;
    if (word.empty()) return true;
    const NodeId own = ast_.ancestor(id, K::class_);
    for (size_t at = ast_.source.find(word); at != std::string_view::npos;
         at = ast_.source.find(word, at + word.size())) {
      const auto other = std::ranges::find_if(file_.outline.classes, [&](NodeId c) {
        return c != own && ast_[c].first_byte <= at && at < ast_[c].last_byte;
      });
      if (own == kNoNode || other == file_.outline.classes.end()) return false;
    }
    return true;
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
      // item() of the program's own class is not the library's.
      const NodeId callee = ast_.child(id, Role::callee);
      const NodeId object =
          ast_[callee].kind == K::attribute ? ast_.child(callee, Role::object) : kNoNode;
      if (object != kNoNode && file_.inference.is_own_object(object)) return;
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

  static bool is_about_tensors(const KindWord& word) {
    return std::ranges::find(word.kinds, Kind::device_tensor) != word.kinds.end() ||
           std::ranges::find(word.kinds, Kind::mask) != word.kinds.end();
  }

  void consider(const CompiledClause& clause, NodeId id, Bindings bindings, const Value* given) {
    if (!lacks(clause, id) || is_device_code(id)) return;
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
      if (!tests_.argument_fits(id, test)) return;
    }
    for (const CompiledNested& nested : clause.nested) {
      if (tests_.nested_holds(id, nested) == nested.negated) return;
    }
    const uint32_t guards = file_.guards.around(id) | place_guards(id);
    if ((guards & clause.unless) != 0) return;
    add(clause, id, bindings, subject, guards);
  }

  /// Whether `id` stands in a kernel or in what only kernels call: no host waits there.
  bool is_device_code(NodeId id) const {
    if (ast_.grammar != Grammar::cuda || !has_device_code_) return false;
    for (NodeId at = ast_[id].parent; at != kNoNode; at = ast_[at].parent) {
      if (ast_[at].kind != K::function) continue;
      const NodeId body = ast_.child(at, Role::body);
      if (body == kNoNode) continue;
      const uint32_t first = ast_[at].first_byte;
      const std::string_view head = ast_.source.substr(first, ast_[body].first_byte - first);
      if (head.find("__host__") == std::string_view::npos &&
          (head.find("__global__") != std::string_view::npos ||
           head.find("__device__") != std::string_view::npos))
        return true;
    }
    return false;
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
    if (value.kind == Kind::unknown && (method == "to" || method == "cuda") && hands_on(id) &&
        !is_model_name(last_component(ast_.slice(object))))
      return likely(Kind::batch, kLoaded);
    if (value.kind == Kind::unknown && names_device(id) && (method == "to" || method == "cuda") &&
        ((is_batch_name(root) && (!forward || contains_any(root, {"batch", "data"}))) ||
         is_of_step_loop(id, root)))
      return likely(Kind::batch, kLoaded);
    return value;
  }

  /// Whether x.to(...) says where to, rather than what to be like: x.to(other) mostly converts.
  bool names_device(NodeId call) const {
    if (callee_name(ast_, call) == "cuda") return true;
    for (NodeId c : children(ast_, call)) {
      if (ast_[c].role == Role::argument &&
          (ast_[c].kind == K::number || ast_[c].kind == K::string || ast_[c].kind == K::call ||
           contains_any(ast_.slice(c), {"device", "cuda", "gpu", "rank", "dev"})))
        return true;
    }
    return false;
  }

  /// Whether a call stands in a function that moves data: to_device(tree).
  bool hands_on(NodeId id) const {
    for (uint32_t f = file_.outline.function_of[id]; f != kNone && f != 0;
         f = facts_.functions[f].parent) {
      if (moves_data(facts_.functions[f].name)) return true;
    }
    return false;
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

  /// Whether `name` is what a loop with a training step in it takes each time.
  bool is_of_step_loop(NodeId id, std::string_view name) const {
    if (name.empty()) return false;
    for (uint32_t at = file_.outline.loop_of[id]; at != kNone; at = facts_.loops[at].parent) {
      const LoopFacts& loop = facts_.loops[at];
      if ((!loop.backward && !loop.optimizer_step) || loop.over_parameters || loop.over_optimizers)
        continue;
      const NodeId target = ast_.child(file_.outline.loops[at], Role::left);
      if (target == kNoNode) continue;
      for (NodeId part = target; part < ast_[target].end; ++part) {
        if (ast_[part].kind == K::name && ast_[part].text == name) return true;
      }
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

  /// Whether a function of this name writes, shows or scores what must be on the host for it.
  static bool wants_host_values(std::string_view name) {
    return name == "save" || name == "imshow" || name == "imsave" || name == "imwrite" ||
           name == "savez" || name == "savefig" || name == "specshow" || name == "dump" ||
           name == "write_video" || name == "save_image" || name == "to_csv" ||
           (name.ends_with("_score") &&
            contains_any(name, {"auc", "f1", "accuracy", "precision", "recall", "r2"}));
  }

  /// Whether a call is of a library that works on the host alone.
  bool is_host_library(NodeId call) const {
    const Dotted& path = file_.names.resolve(ast_.child(call, Role::callee));
    return (path.imported && path.path.starts_with("scipy.stats")) ||
           contains_any(path.path, {"self.scipy"});
  }

  /// Guards that do not come from conditions: where a value is kept.
  uint32_t place_guards(NodeId id) const {
    uint32_t guards = 0;
    const FunctionFacts& function = facts_.functions[file_.outline.function_of[id]];
    if ((function.flags & kCachedFunction) != 0) guards |= kGuardCached;
    if (function.name.ends_with("_cpu") || function.name.ends_with("Cpu") ||
        function.name.ends_with("CPU"))
      guards |= kGuardCpuBranch;
    if (is_environment_value(id) ||
        contains_any(function.class_name, {"envrunner", "vectorenv", "vecenv"}))
      guards |= kGuardEnvironment;
    for (NodeId at = ast_[id].parent; at != kNoNode; at = ast_[at].parent) {
      const Node& node = ast_[at];
      if (node.kind == K::call) {
        std::string_view name = callee_name(ast_, at);
        if (name == "register_buffer" || name == "Parameter" || name == "register_parameter")
          guards |= kGuardCached;
        if (at != id && name.ends_with("_cpu")) guards |= kGuardCpuBranch;
        if (at != id && (wants_host_values(name) || is_host_library(at)))
          guards |= kGuardCheckpoint;
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

  void finish() {
    auto& all = facts_.candidates;
    std::ranges::stable_sort(
        all, {}, [](const Candidate& c) { return std::tuple(c.first_byte, c.rule, c.clause); });
    auto same = [](const Candidate& a, const Candidate& b) {
      return a.first_byte == b.first_byte && a.last_byte == b.last_byte && a.rule == b.rule &&
             a.clause == b.clause;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    for (Candidate& c : all) c.line_text = line_text(ast_.source, c.first_byte);
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
  const ClauseTests tests_;
  const bool has_device_code_ = ast_.source.find("__device__") != std::string_view::npos ||
                                ast_.source.find("__global__") != std::string_view::npos;
  enum class Answer : uint8_t { open, no, yes };
  std::vector<Answer> applies_;  ///< per clause
};

}  // namespace

void collect_candidates(const FileView& file, const RuleSet& rules, uint32_t language,
                        FileFacts& facts) {
  Collector(file, rules, language, facts).run();
}

}  // namespace stallscope
