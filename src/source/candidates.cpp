#include "source/candidates.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/file.h"
#include "source/clause_tests.h"
#include "source/place_guards.h"
#include "source/role_words.h"
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
        place_guards_(file, facts),
        applies_(rules.clauses().size(), Answer::open),
        has_lacked_(rules.clauses().size(), Answer::open) {}

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
  bool lacks(const CompiledClause& clause, NodeId id) {
    if (!function_has(clause.clause->function_has, id)) return false;
    const std::string& word = clause.clause->file_lacks;
    if (word.empty()) return true;
    // Most files have no such word anywhere: searched for once, and not for each match.
    Answer& answer = has_lacked_[static_cast<size_t>(&clause - rules_.clauses().data())];
    if (answer == Answer::open)
      answer = ast_.source.find(word) == std::string_view::npos ? Answer::no : Answer::yes;
    if (answer == Answer::no) return true;
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

  bool function_has(const std::string& text, NodeId id) const {
    if (text.empty()) return true;
    const NodeId function = file_.outline.functions[file_.outline.function_of[id]];
    return ast_.slice(function).find(text) != std::string_view::npos;
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
    if (!clause.clause->declares.empty() && ast_.grammar == Grammar::cuda && declares(clause, id)) {
      if (applies(clause)) consider(clause, id, {}, nullptr);
      return;
    }
    for (const Pattern& pattern : clause.patterns[static_cast<size_t>(ast_.grammar)]) {
      if (pattern.anchor() != ast_[id].kind) continue;
      // A pattern is about reading: x[m] does not match x[m] = 0.
      if (ast_[id].kind == K::subscript && fills(id)) continue;
      if (auto bindings = pattern.match(ast_, file_.names, id)) {
        if (applies(clause)) consider(clause, id, std::move(*bindings), nullptr);
        return;
      }
    }
  }

  /// Whether `x[m] = value` fills in one number. The elements of a tensor are laid out by the
  /// index, as if x[m] was read.
  bool fills(NodeId target) const {
    if (ast_[target].role != Role::left || ast_[ast_[target].parent].kind != K::assign)
      return false;
    const NodeId right = ast_.child(ast_[target].parent, Role::right);
    if (right == kNoNode) return true;
    const Value value = file_.inference.at(right);
    const bool one = ast_[right].kind == K::call && ast_.child(right, Role::argument) == kNoNode &&
                     is_one_of(callee_name(ast_, right), {"sum", "mean", "max", "min", "median"});
    return one || !value.is_device() || value.certainty < Certainty::likely || value.has(kFromHost);
  }

  /// Whether a declaration makes a local object of one of these types: `Vector<T> x(n);`, neither
  /// without a size nor from what another call gives.
  bool declares(const CompiledClause& clause, NodeId id) const {
    const Node& node = ast_[id];
    if (node.kind != K::assign || file_.outline.function_of[id] == 0 ||
        ast_[node.parent].kind != K::block)
      return false;
    const NodeId left = ast_.child(id, Role::left);
    const NodeId first = left == kNoNode ? kNoNode : ast_[left].next;
    if (first == kNoNode || (ast_[first].kind == K::call && ast_[first].next == kNoNode &&
                             ast_.slice(id).find('=') != std::string_view::npos))
      return false;
    const size_t before = ast_.source.find_last_of(";{}", node.first_byte);
    const std::string_view specifiers =
        ast_.source.substr(before + 1, node.first_byte - before - 1);
    if (specifiers.find("static") != std::string_view::npos) return false;
    if (clause.own_device_buffers) {
      const Dependency* from = file_.inference.dependency(file_.inference.at(id));
      // `Buffer b(n)`, not `Buffer* p = &b`.
      return from && from->kind == DependencyKind::instance &&
             file_.inference.is_built_from(left, first) &&
             ast_.source.substr(node.first_byte, ast_[left].first_byte - node.first_byte)
                     .find_first_of("*&") == std::string_view::npos;
    }
    const std::vector<std::string>& types = clause.clause->declares;
    std::string path(node.text.substr(0, node.text.find('<')));
    for (size_t at = path.find("::"); at != std::string::npos; at = path.find("::"))
      path.replace(at, 2, ".");
    return std::ranges::any_of(types, [&](const std::string& type) {
      return path == type || (path.size() > type.size() && path.ends_with(type) &&
                              path[path.size() - type.size() - 1] == '.');
    });
  }

  static bool is_about_tensors(const KindWord& word) {
    return std::ranges::find(word.kinds, Kind::device_tensor) != word.kinds.end() ||
           std::ranges::find(word.kinds, Kind::mask) != word.kinds.end();
  }

  /// make_grid(n).to(device): another file's function may give a tensor that it just made.
  bool may_be_made_elsewhere(const Value& subject, const KindWord& wanted) const {
    const Dependency* from = file_.inference.dependency(subject);
    return wanted.flags == kFresh && subject.kind == Kind::unknown && from &&
           from->kind == DependencyKind::returns;
  }

  void consider(const CompiledClause& clause, NodeId id, Bindings bindings, const Value* given) {
    if (is_device_code(id)) return;
    Value subject = given ? *given : subject_of(id);
    if (clause.on && !fits(subject, *clause.on, clause.certainty) &&
        !may_be_made_elsewhere(subject, *clause.on))
      return;
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
    if (!lacks(clause, id)) return;
    const uint32_t guards = file_.guards.around(id) | place_guards_.of(id);
    // Whether anybody leaves the argument out is known when all callers are.
    const uint32_t parameter = (guards & kGuardNotGiven) != 0 ? defaulted_around(id)
                               : clause.matcher && (clause.unless & kGuardNotGiven) != 0
                                   ? defaulted_bound(id)
                                   : kNone;
    if ((guards & clause.unless & ~(parameter == kNone ? 0u : +kGuardNotGiven)) != 0) return;
    add(clause, id, bindings, subject, guards);
    facts_.candidates.back().default_of = parameter;
    facts_.candidates.back().option_of = optional_around(id);
  }

  /// The parameter, None or False where it is left out, without which `id` does not run: under
  /// `if parameter:` or `if parameter is not None:`; or kNone.
  uint32_t optional_around(NodeId id) const {
    const uint32_t function = file_.outline.function_of[id];
    if (ast_.grammar != Grammar::python || function == 0) return kNone;
    NodeId below = id;
    for (NodeId at = ast_[id].parent; at != kNoNode && ast_[at].kind != K::function;
         below = at, at = ast_[at].parent) {
      if (ast_[at].kind != K::if_ || ast_[below].role != Role::consequence) continue;
      const NodeId condition = ast_.child(at, Role::condition);
      if (condition == kNoNode) continue;
      std::string_view name = ast_.slice(condition);
      constexpr std::string_view kGiven = " is not None";
      if (name.ends_with(kGiven)) name.remove_suffix(kGiven.size());
      const auto& parameters = facts_.functions[function].parameters;
      const auto found = std::ranges::find(parameters, name);
      if (found != parameters.end() && is_off_by_default(function, name) &&
          file_.inference.definition(function, name, id) == kNoNode)
        return static_cast<uint32_t>(found - parameters.begin());
    }
    return kNone;
  }

  /// def f(x, longest=None, check=False)
  bool is_off_by_default(uint32_t function, std::string_view parameter) const {
    const NodeId all = ast_.child(file_.outline.functions[function], Role::parameters);
    if (all == kNoNode) return false;
    for (NodeId p : children(ast_, all)) {
      const NodeId value = ast_[p].text == parameter ? ast_.child(p, Role::value) : kNoNode;
      if (value != kNoNode) return ast_.slice(value) == "None" || ast_.slice(value) == "False";
    }
    return false;
  }

  /// The parameter of which `if parameter is None:` around `id` makes the default, or kNone.
  uint32_t defaulted_around(NodeId id) const {
    const auto& parameters = facts_.functions[file_.outline.function_of[id]].parameters;
    for (NodeId at = ast_[id].parent; at != kNoNode && ast_[at].kind != K::function;
         at = ast_[at].parent) {
      if (ast_[at].kind != K::if_) continue;
      const NodeId condition = ast_.child(at, Role::condition);
      const NodeId left = condition == kNoNode || ast_[condition].kind != K::compare
                              ? kNoNode
                              : ast_[condition].first_child;
      if (left == kNoNode || ast_[left].kind != K::name ||
          !ast_.slice(condition).ends_with(" is None"))
        continue;
      const auto found = std::ranges::find(parameters, ast_[left].text);
      if (found != parameters.end()) return static_cast<uint32_t>(found - parameters.begin());
    }
    return kNone;
  }

  /// The parameter that a bound under `id` is, where only `if parameter is None:` makes it a
  /// tensor; or kNone.
  uint32_t defaulted_bound(NodeId id) const {
    const uint32_t function = file_.outline.function_of[id];
    const auto& parameters = facts_.functions[function].parameters;
    for (NodeId at = id; at < ast_[id].end; ++at) {
      if (ast_[at].kind != K::name || ast_[at].role == Role::object) continue;
      const auto found = std::ranges::find(parameters, ast_[at].text);
      const NodeId made = found == parameters.end()
                              ? kNoNode
                              : file_.inference.definition(function, ast_[at].text, id);
      const NodeId test = made == kNoNode ? kNoNode : ast_.ancestor(made, K::if_);
      const NodeId condition = test == kNoNode ? kNoNode : ast_.child(test, Role::condition);
      if (condition != kNoNode && ast_.slice(condition) == std::string(ast_[at].text) + " is None")
        return static_cast<uint32_t>(found - parameters.begin());
    }
    return kNone;
  }

  /// Whether `id` stands in a kernel or in what only kernels call: no host waits there.
  bool is_device_code(NodeId id) const {
    if (!has_device_code_) return false;
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
    // A batch's own tensors are where the loader put them, whatever their type says.
    if ((value.kind == Kind::unknown || (value.is_device() && moves_itself(id))) &&
        (method == "to" || method == "cuda") && hands_on(id) &&
        !is_model_name(last_component(ast_.slice(object))))
      return likely(Kind::batch, kLoaded);
    if (value.kind == Kind::unknown && names_device(id) && (method == "to" || method == "cuda") &&
        ((is_batch_name(root) && !follows_tensor(id) &&
          (!forward || contains_any(root, {"batch", "data"}))) ||
         is_of_step_loop(id, root)))
      return likely(Kind::batch, kLoaded);
    if (names_device(id) && !follows_tensor(id) && (method == "to" || method == "cuda") &&
        is_of_batch_getter(id, object))
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

  /// labels.to(logits.device): they are there, unless the model is spread over devices.
  bool follows_tensor(NodeId call) const {
    const NodeId to = ast_.child(call, Role::argument);
    if (to == kNoNode || ast_[to].kind != K::attribute || ast_[to].text != "device") return false;
    const NodeId of = ast_.child(to, Role::object);
    return of != kNoNode && file_.inference.at(of).is_device();
  }

  /// Whether a call stands in a function that moves data: to_device(tree).
  bool hands_on(NodeId id) const {
    for (uint32_t f = file_.outline.function_of[id]; f != kNone && f != 0;
         f = facts_.functions[f].parent) {
      if (moves_data(facts_.functions[f].name)) return true;
      if (facts_.functions[f].name == "to" && is_batch_class(facts_.functions[f].class_name))
        return true;
    }
    return false;
  }

  /// Whether a call stands in a method that moves a batch: GraphBatch.to_device().
  bool moves_itself(NodeId id) const {
    const FunctionFacts& f = facts_.functions[file_.outline.function_of[id]];
    return moves_own_batch(f.class_name, f.name) && is_batch_class(f.class_name);
  }

  /// Batch.to(device), SampleList.to(device): a container of the program's own, not a module.
  bool is_batch_class(std::string_view name) const {
    return is_batch_class_name(name) &&
           std::ranges::none_of(facts_.classes,
                                [&](const ClassFacts& c) { return c.name == name && c.is_module; });
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

  /// x.to(device) in get_batch(), of a name that is put together there.
  bool is_of_batch_getter(NodeId id, NodeId object) const {
    const uint32_t function = file_.outline.function_of[id];
    const NodeId made = ast_[object].kind == K::name
                            ? file_.inference.definition(function, ast_[object].text, id)
                            : kNoNode;
    return made != kNoNode && callee_name(ast_, made) == "stack" &&
           is_batch_getter(facts_.functions[function].name);
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
  const PlaceGuards place_guards_;
  const bool has_device_code_ =
      ast_.grammar == Grammar::cuda && (ast_.source.find("__device__") != std::string_view::npos ||
                                        ast_.source.find("__global__") != std::string_view::npos);
  enum class Answer : uint8_t { open, no, yes };
  std::vector<Answer> applies_;     ///< per clause
  std::vector<Answer> has_lacked_;  ///< per clause: the word of file_lacks is somewhere
};

}  // namespace

void collect_candidates(const FileView& file, const RuleSet& rules, uint32_t language,
                        FileFacts& facts) {
  Collector(file, rules, language, facts).run();
}

}  // namespace stallscope
