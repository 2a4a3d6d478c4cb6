#include "source/match/candidates.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "source/match/clause_tests.h"
#include "source/match/made_functions.h"
#include "source/match/made_objects.h"
#include "source/match/options.h"
#include "source/match/origins.h"
#include "source/match/place_guards.h"
#include "source/match/subjects.h"
#include "source/names/roles.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

class CandidateCollector {
 public:
  CandidateCollector(const FileView& file, const RuleSet& rules, uint32_t language,
                     Switches& switches, FileFacts& facts)
      : file_(file),
        ast_(file.ast),
        rules_(rules),
        language_(language),
        facts_(facts),
        tests_(file, facts),
        place_guards_(file, facts),
        subjects_(file, facts),
        options_(file, facts),
        switches_(switches),
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
      by_kind(id);
      if (node.kind == K::assign && ast_.grammar == Grammar::cuda) {
        for (uint32_t c : rules_.by_declaration()) declared(rules_.clauses()[c], id);
      }
      if (ast_.grammar == Grammar::cuda && file_.outline.function_of[id] != 0) made(id);
      if (node.kind == K::decorator) {
        for (uint32_t c : rules_.by_decorator()) decorated(rules_.clauses()[c], id);
      }
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

  bool suits_file(const CompiledClause& clause) {
    if ((clause.languages & language_) == 0) return false;
    const SourceClause& c = *clause.clause;
    return c.file_has.empty() || holds(c.file_has);
  }

  /// Whether the file holds a text; searched for once, as many clauses ask for the same.
  bool holds(const std::string& text) {
    const auto [known, added] = holds_.try_emplace(text, false);
    if (added) known->second = holds_text(ast_.source, text);
    return known->second;
  }

  /// Whether the file lacks what the clause wants it to lack; what only another class has is not
  /// this one's.
  bool lacks(const CompiledClause& clause, NodeId id) {
    if (!function_has(clause.clause->function_has, id) || own_has(clause.clause->own_lacks, id))
      return false;
    const std::string& word = clause.clause->file_lacks;
    if (word.empty()) return true;
    // Most files have no such word anywhere.
    if (!holds(word)) return true;
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
    return holds_text(ast_.slice(function_around(id)), text);
  }

  /// The function that holds a place, in C++ with the lambdas that it declares.
  NodeId function_around(NodeId id) const {
    uint32_t function = file_.outline.function_of[id];
    while (ast_.grammar == Grammar::cuda && facts_.functions[function].parent != kNone)
      function = facts_.functions[function].parent;
    return file_.outline.functions[function];
  }

  /// Whether the outermost function or class around the place has a text. In C++ another method of
  /// the class has it for the place only if one of the two calls the other.
  bool own_has(const std::string& text, NodeId id) const {
    if (text.empty()) return false;
    NodeId own = kNoNode;
    for (NodeId at = id; at != kNoNode; at = ast_[at].parent) {
      if (ast_[at].kind == K::class_ || ast_[at].kind == K::function) own = at;
    }
    if (own == kNoNode || !holds_text(ast_.slice(own), text)) return false;
    if (ast_.grammar == Grammar::python || ast_[own].kind == K::function) return true;
    const NodeId here = function_around(id);
    return std::ranges::any_of(file_.outline.functions, [&](NodeId other) {
      return ast_.inside(other, own) && holds_text(ast_.slice(other), text) &&
             (other == here || calls_by_name(here, other) || calls_by_name(other, here));
    });
  }

  /// Whether a function has a call of what another one is called.
  bool calls_by_name(NodeId function, NodeId other) const {
    for (NodeId at = function; at < ast_[function].end; ++at) {
      if (ast_[at].kind == K::call && callee_name(ast_, at) == ast_[other].text) return true;
    }
    return false;
  }

  void run_matcher(const CompiledClause& clause) {
    if (!applies(clause) || !file_.inference.has_tensors()) return;
    std::vector<Match> found;
    clause.matcher->find(file_, found);
    for (const Match& match : found)
      consider(clause, match.node, match.bindings, &match.subject, match.also);
  }

  /// Patterns that start from nodes of this kind; of each clause the first that matches.
  void by_kind(NodeId id) {
    uint32_t done = kNone;
    const NodeKind kind = ast_[id].kind;
    if (!rules_.starts_from(ast_.grammar, kind)) return;
    const NodeId right = ast_.child(id, Pattern::right_role(kind));
    for (const auto& [c, p] : rules_.by_kind(ast_.grammar, kind, ast_[right].kind)) {
      if (c == done) continue;
      const CompiledClause& clause = rules_.clauses()[c];
      const Pattern& pattern = clause.patterns[static_cast<size_t>(ast_.grammar)][p];
      if (pattern.may_match(ast_, file_.names, right) && matches(clause, pattern, id)) done = c;
    }
  }

  void declared(const CompiledClause& clause, NodeId id) {
    if (declares(clause, id) && applies(clause)) consider(clause, id, {}, nullptr);
  }

  /// `new Storage(n)`, and `storage_(n)` in front of a constructor's body: whether its class holds
  /// memory of the device the link knows.
  void made(NodeId id) {
    std::optional<MadeObject> object;
    if (ast_[id].kind == K::call || ast_[id].kind == K::other) {
      object = object_made_by(ast_, id);
    } else if (ast_[id].kind == K::assign && ast_[ast_[id].parent].kind != K::block) {
      const uint32_t klass = file_.outline.class_of[file_.outline.function_of[id]];
      if (klass != kNone) object = member_made(ast_, facts_.classes[klass], id);
    }
    if (!object || hands_out_memory(object->arguments) ||
        object->arguments.find("std::move(") != std::string_view::npos)
      return;
    for (const uint32_t c : rules_.by_declaration()) {
      const CompiledClause& clause = rules_.clauses()[c];
      if (!clause.own_device_buffers || !applies(clause)) continue;
      const auto [known, added] = made_.try_emplace(object->class_name, 0);
      if (added) {
        facts_.dependencies.push_back(
            {DependencyKind::instance, std::string(object->class_name), 0, 0});
        known->second = static_cast<uint32_t>(facts_.dependencies.size());
      }
      const Value subject = depending_on(known->second);
      const size_t before = facts_.candidates.size();
      consider(clause, id, {}, &subject);
      if (facts_.candidates.size() > before) facts_.candidates.back().given = object->given();
    }
  }

  void decorated(const CompiledClause& clause, NodeId id) {
    if (decorates(file_, *clause.clause, id) && applies(clause)) consider(clause, id, {}, nullptr);
  }

  /// Clauses that a call's name leads to.
  void at(const CompiledClause& clause, NodeId id) {
    if (std::ranges::any_of(clause.calls,
                            [&](const CallName& n) { return is_call_of(file_, id, n); })) {
      // item() of the program's own class is not the library's.
      const NodeId callee = ast_.child(id, Role::callee);
      const NodeId object =
          ast_[callee].kind == K::attribute ? ast_.child(callee, Role::object) : kNoNode;
      if (object != kNoNode && file_.inference.is_own_object(object)) return;
      if (applies(clause)) consider(clause, id, {}, nullptr);
      return;
    }
    for (const Pattern& pattern : clause.patterns[static_cast<size_t>(ast_.grammar)]) {
      if (!pattern.anchor_call().empty() && matches(clause, pattern, id)) return;
    }
  }

  /// Whether a pattern matches there; then its clause is considered.
  bool matches(const CompiledClause& clause, const Pattern& pattern, NodeId id) {
    if (!pattern.match(ast_, file_.names, id, bindings_)) return false;
    // A mask is about reading: x[m] does not match x[m] = 0. kernel[grid](x) is Triton's.
    if (ast_[id].kind == K::subscript &&
        ((selects_by_mask(clause) && fills(id)) || ast_[id].role == Role::callee ||
         (ast_.grammar == Grammar::cuda && is_place(id))))
      return false;
    if (fills_record(id) && std::ranges::any_of(clause.where, [](const auto& bound) {
          return is_about_tensors(*bound.second);
        }))
      return false;
    if (applies(clause)) consider(clause, id, bindings_, nullptr);
    return true;
  }

  /// Whether logs["loss"] = value fills a record: what has names for its parts is no tensor.
  bool fills_record(NodeId id) const {
    const NodeId left = ast_[id].kind == K::assign ? ast_.child(id, Role::left) : kNoNode;
    if (left == kNoNode || ast_[left].kind != K::subscript) return false;
    const NodeId object = ast_.child(left, Role::object);
    const NodeId key = object == kNoNode ? kNoNode : ast_[object].next;
    return key != kNoNode && ast_[key].kind == K::string;
  }

  /// C++: whether v[i] is written to, or only its address is taken: `v[0] = x`, `&v[0]`.
  bool is_place(NodeId id) const {
    const Node& parent = ast_[ast_[id].parent];
    return (ast_[id].role == Role::left && parent.kind == K::assign) ||
           (parent.kind == K::unary && parent.text == "&");
  }

  static bool selects_by_mask(const CompiledClause& clause) {
    return std::ranges::any_of(clause.where, [](const auto& bound) {
      return std::ranges::find(bound.second->kinds, Kind::mask) != bound.second->kinds.end();
    });
  }

  /// Whether `x[m] = value` fills in one number. The elements of a tensor are laid out by the
  /// index, as if x[m] was read.
  bool fills(NodeId target) const {
    if (ast_[target].role != Role::left || ast_[ast_[target].parent].kind != K::assign)
      return false;
    const NodeId right = ast_.child(ast_[target].parent, Role::right);
    if (right == kNoNode) return true;
    const Value value = file_.inference.at(right);
    // Of what can be put there only a tensor has to().
    if (value.kind == Kind::unknown && ast_[right].kind == K::call &&
        callee_name(ast_, right) == "to")
      return false;
    const bool one = ast_[right].kind == K::call && ast_.child(right, Role::argument) == kNoNode &&
                     is_one_of(callee_name(ast_, right), {"sum", "mean", "max", "min", "median"});
    return one || !value.is_device() || value.certainty < Certainty::likely || value.has(kFromHost);
  }

  /// mem, memory_pool, resources_: what others are given their memory by. `b(pool, n)` may be
  /// read as the declaration of a function: `arguments` begin with the first one.
  static bool hands_out_memory(std::string_view arguments) {
    if (arguments.starts_with('(')) arguments.remove_prefix(1);
    const std::string_view name(arguments.begin(),
                                std::ranges::find_if_not(arguments, is_identifier_char));
    return has_word(lower(name), {"mem", "memory", "alloc", "allocator", "pool", "arena",
                                  "resource", "resources", "workspace"});
  }

  /// Whether a member takes over what a local object holds: mesh_.swap(mesh), mesh_ =
  /// std::move(mesh).
  bool is_kept(std::string_view name, NodeId place) const {
    const std::string_view function = ast_.slice(function_around(place));
    const std::string text(name);
    return function.find(".swap(" + text + ")") != std::string_view::npos ||
           function.find("_ = std::move(" + text + ")") != std::string_view::npos;
  }

  /// `Scratch s;`: whether a declaration without arguments makes a local object of some class.
  bool makes_plain_object(NodeId id, NodeId left) const {
    const Dependency* from = file_.inference.dependency(file_.inference.at(id));
    return from && from->kind == DependencyKind::instance && declares_local_object(ast_, id) &&
           !is_kept(ast_[left].text, id) && object_declared(ast_, id).arguments.empty();
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
    // `Scratch s;` of a class that takes its memory all the same
    if (first == kNoNode && clause.own_device_buffers)
      return left != kNoNode && !names_pointer(node.text) && makes_plain_object(id, left);
    if (first == kNoNode || (ast_[first].kind == K::call && ast_[first].next == kNoNode &&
                             ast_.slice(id).find('=') != std::string_view::npos))
      return false;
    if (!declares_local_object(ast_, id)) return false;
    // not `std::vector<std::unique_ptr<Buffer>> all(n);`
    if (clause.own_device_buffers && names_pointer(node.text)) return false;
    if (is_kept(ast_[left].text, id)) return false;
    if (clause.own_device_buffers) {
      const Dependency* from = file_.inference.dependency(file_.inference.at(id));
      // not `Buffer b(pool, n)` of memory that is handed out
      return from && from->kind == DependencyKind::instance &&
             !hands_out_memory(ast_.slice(first)) && file_.inference.is_built_from(left, first);
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

  /// make_grid(n).to(device): another file's function may give a tensor that it just made, and
  /// to_gpu(x) be given one.
  bool may_be_made_elsewhere(const Value& subject, const KindWord& wanted) const {
    const Dependency* from = file_.inference.dependency(subject);
    if ((wanted.flags != kFresh && wanted.flags != kFromHost) || subject.kind != Kind::unknown ||
        !from)
      return false;
    return from->by_call() || from->kind == DependencyKind::part ||
           (from->kind == DependencyKind::parameter && from->function != 0 &&
            facts_.functions[from->function].is_short());
  }

  /// step(x: Tensor), isinstance(x, Tensor) of an argument: callers say whether it is a batch, or
  /// was just made. Where the other tensors beside it are, nobody says.
  bool is_open_argument(const Value& subject, const KindWord& wanted) const {
    const bool asks =
        wanted.flags != 0 || std::ranges::find(wanted.kinds, Kind::batch) != wanted.kinds.end();
    const Dependency* from = file_.inference.dependency(subject);
    return asks && subject.is_device() && from && from->kind != DependencyKind::derived &&
           !subject.has(kAttribute);
  }

  /// x[:, [0, 2]] of a helper's argument, x[keep] of keep = find_kept(y): the link knows whether
  /// callers hand in a tensor that is on the device, and whether the function gives a mask.
  bool is_left_to_link(const Value& value, const KindWord& wanted) const {
    const Dependency* from = file_.inference.dependency(value);
    if (ast_.grammar != Grammar::python || value.kind != Kind::unknown || !from ||
        wanted.flags != 0)
      return false;
    const bool given = from->by_call() || from->kind == DependencyKind::part;
    const bool handed =
        from->kind == DependencyKind::parameter || from->kind == DependencyKind::derived ||
        from->kind == DependencyKind::element || from->kind == DependencyKind::entry;
    // to_arrays(batch) of a program of JAX: jnp.array(data["x"])
    if (file_.names.uses_jax() &&
        std::ranges::find(wanted.kinds, Kind::batch) != wanted.kinds.end())
      return handed;
    // table[i] = loss of an argument, pool[scores > 0] of one
    if (file_.names.uses_jax() &&
        std::ranges::find(wanted.kinds, Kind::jax_array) != wanted.kinds.end())
      return given || handed;
    if (!is_about_tensors(wanted)) return false;
    return given ||
           (handed && std::ranges::find(wanted.kinds, Kind::device_tensor) != wanted.kinds.end());
  }

  /// def pick(x, keep): return x[keep]: callers say whether they hand in a mask, unless it is
  /// called what counts or names elements.
  bool may_be_handed_mask(NodeId index, const Value& value, const KindWord& wanted) const {
    const Dependency* from = file_.inference.dependency(value);
    const std::string_view name = ast_[index].text;
    return ast_.grammar == Grammar::python && ast_[index].kind == K::name &&
           value.kind == Kind::unknown && from && from->kind == DependencyKind::parameter &&
           std::ranges::find(wanted.kinds, Kind::mask) != wanted.kinds.end() &&
           (name.size() > 2 || name == "m") && (name == "m" || !is_counter_name(name)) &&
           !contains_any(name, {"idx", "index", "indices", "key", "name", "ind", "id", "num", "dim",
                                "pos", "step", "start", "end", "layer", "level", "axis"});
  }

  bool is_of_callers(const Value& value) const {
    const Dependency* from = file_.inference.dependency(value);
    return from && from->kind == DependencyKind::parameter && !value.has(kAttribute);
  }

  void consider(const CompiledClause& clause, NodeId id, const Bindings& bindings,
                const Value* given, const std::vector<NodeId>& also = {}) {
    if (is_device_code(id)) return;
    Value subject = given ? *given : subjects_.of(id);
    // to_gpu(x) moves batches, by its name; who hands it what it made itself is told of that.
    if (clause.on && clause.on->flags == kFresh && !given && subject.kind == Kind::batch)
      subject = subjects_.receiver(id);
    if (clause.on && is_open_argument(subject, *clause.on) &&
        !fits(subject, *clause.on, clause.certainty))
      subject = depending_on(subject.dependency);
    if (clause.on && !fits(subject, *clause.on, clause.certainty) &&
        !may_be_made_elsewhere(subject, *clause.on))
      return;
    if (clause.on && !file_.inference.has_tensors() && is_about_tensors(*clause.on)) return;
    if ((clause.unless & kGuardHostValue) != 0 && ((subject.is_host() && !clause.on) || on_host_))
      return;
    const bool wants_host_too = std::ranges::any_of(clause.where, [](const auto& wanted) {
      return std::ranges::find(wanted.second->kinds, Kind::host_tensor) !=
             wanted.second->kinds.end();
    });
    uint8_t open = 0, at = 0;
    for (const auto& [name, kind] : clause.where) {
      const auto* bound = bindings.find(name);
      if (bound == bindings.end()) return;
      const Value& value = file_.inference.at(bound->second);
      ++at;
      if (open == 0 && !clause.on &&
          (is_left_to_link(value, *kind) || may_be_handed_mask(bound->second, value, *kind))) {
        open = at;
        subject = value;
        continue;
      }
      if (!fits(value, *kind, clause.certainty) || value.kind == Kind::unknown) return;
      // mask_tokens(inputs: Tensor), which writes what it made, may be handed a batch; a forward
      // pass is handed what is on the device.
      if (wants_host_too && value.is_device() && is_of_callers(value) &&
          (facts_.functions[file_.outline.function_of[id]].flags & kForward) == 0)
        return;
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
    const uint32_t parameter = (guards & kGuardNotGiven) != 0 ? options_.defaulted_around(id)
                               : clause.matcher && (clause.unless & kGuardNotGiven) != 0
                                   ? options_.defaulted_bound(id)
                                   : kNone;
    if ((guards & clause.unless & ~(parameter == kNone ? 0u : +kGuardNotGiven)) != 0) return;
    add(clause, id, bindings, subject, guards);
    add_lines(ast_, also, facts_.candidates.back());
    facts_.candidates.back().open = open;
    facts_.candidates.back().default_of = parameter;
    Option& option = facts_.candidates.back().option = options_.needed_around(id);
    if (option.parameter == kNone) option = options_.keywords_read(id);
    facts_.candidates.back().switches = switches_.around(id);
  }

  /// Whether this is a program that takes its steps itself and names no device: what PyTorch makes
  /// stays on the host, and waits for nothing.
  bool stays_on_host() const {
    if (file_.names.uses_jax() || !holds_text(ast_.source, ".backward(")) return false;
    // A module of Python that tries itself may be run elsewhere by others.
    const bool main = ast_.grammar == Grammar::python
                          ? holds_text(ast_.source, "__main__") &&
                                std::ranges::none_of(facts_.classes, &ClassFacts::is_module)
                          : std::ranges::any_of(facts_.functions, [](const FunctionFacts& f) {
                              return (f.flags & kMainFunction) != 0 && f.class_name.empty();
                            });
    return main && !contains_any(ast_.source, {"cuda", "device", "gpu", ".to(", "xpu", "xla",
                                               "accelerat", "lightning", "fabric", "trainer",
                                               "runner", "engine", "distributed", "_rank"});
  }

  /// Whether `id` stands in a kernel or in what only kernels call: no host waits there.
  bool is_device_code(NodeId id) const {
    if (!has_device_code_) return false;
    for (NodeId at = ast_[id].parent; at != kNoNode; at = ast_[at].parent) {
      if (ast_[at].kind == K::function && is_device_function(ast_, at)) return true;
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
    out.anchor_line = anchor_of(ast_, id);
    out.block = chain_of(ast_, id);
    out.guards = guards;
    out.in_inner_loop = std::ranges::any_of(clause.nested, [](const CompiledNested& n) {
      return n.test->node == "its-own-loop" || n.test->node == "inner-loop" ||
             n.test->node == "parameter-loop";
    });
    out.in_callers_loop = std::ranges::any_of(clause.nested, [](const CompiledNested& n) {
      return n.test->node == "callers-parameter-loop";
    });
    out.subject = subject;
    if (out.first_line != out.anchor_line) out.also.push_back(out.first_line);
    if (const uint32_t line = line_of_printing(ast_, id); line != out.anchor_line && line != 0)
      out.also.push_back(line);
    add_lines(ast_, origins_of(file_, id, bindings), out);
    add_lines(ast_, tests_.literals_of(id, clause.clause->args), out);
    if (clause.own_device_buffers && ast_[id].kind == K::assign)
      out.given = object_declared(ast_, id).given();
    for (const auto& [name, bound] : bindings)
      out.metavariables.emplace_back(name, ast_.slice(bound));
    std::ranges::sort(out.metavariables);
    facts_.candidates.push_back(std::move(out));
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

  std::unordered_map<std::string_view, uint32_t> made_;  ///< dependencies, by their classes
  const FileView& file_;
  const Ast& ast_;
  const RuleSet& rules_;
  const uint32_t language_;
  FileFacts& facts_;
  const ClauseTests tests_;
  const PlaceGuards place_guards_;
  const Subjects subjects_;
  const Options options_;
  Switches& switches_;
  const bool on_host_ = stays_on_host();
  const bool has_device_code_ =
      ast_.grammar == Grammar::cuda &&
      (holds_text(ast_.source, "__device__") || holds_text(ast_.source, "__global__"));
  Bindings bindings_;  ///< of the pattern tried last
  enum class Answer : uint8_t { open, no, yes };
  std::vector<Answer> applies_;  ///< per clause
  std::unordered_map<std::string_view, bool> holds_;
};

}  // namespace

void collect_candidates(const FileView& file, const RuleSet& rules, uint32_t language,
                        Switches& switches, FileFacts& facts) {
  CandidateCollector(file, rules, language, switches, facts).run();
}

}  // namespace stallscope
