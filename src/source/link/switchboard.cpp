#include "source/link/switchboard.h"

#include <algorithm>

#include "source/link/given.h"
#include "source/link/purpose.h"
#include "source/names/mentions.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using Given = NamedValue::Kind;
constexpr unsigned kMaxAliases = 4;  ///< fuse=args.fused, fused=cfg.fuse_bias, ...

/// Whether a value makes a condition hold, or may.
bool holds(const Switch& asked, const NamedValue& given) {
  if (given.kind == Given::other) return true;
  switch (asked.test) {
    case Switch::Test::on:
      return given.kind == Given::literal;
    case Switch::Test::off:
      return given.kind != Given::literal;
    case Switch::Test::given:
      return given.kind != Given::none;
    case Switch::Test::missing:
      return given.kind == Given::none;
    case Switch::Test::equals:
      return given.value == asked.value;
    case Switch::Test::differs:
      return given.value != asked.value;
    case Switch::Test::present:
      break;
  }
  return true;
}

/// Whether a name may have been given anything: then nothing else that it is given tells more.
bool is_open(const std::vector<NamedValue>& given) {
  return !given.empty() && given.front().kind == Given::other;
}

void add(const NamedValue& value, std::vector<NamedValue>& given) {
  if (is_open(given)) return;
  if (value.kind == Given::other) given.clear();
  given.push_back(value);
}

/// `if args.method == "beam":` is one of several that runs choose from.
bool is_choice(const Switch& asked) {
  return asked.test == Switch::Test::equals || asked.test == Switch::Test::differs;
}

/// forward(x, return_maps=False): a switch by its name, which nobody gives by position.
bool is_switch_name(std::string_view name) {
  return starts_with_any(
      name, {"ret_", "return_", "debug_", "output_", "get_", "with_", "use_", "do_", "log_",
             "compute_", "need_", "only_", "record_", "is_", "enable_", "apply_"});
}

}  // namespace

Switchboard::Switchboard(const CallGraph& graph) {
  if (std::ranges::all_of(graph.files(), [](const auto& file) { return file->candidates.empty(); }))
    return;
  Wanted asked;
  for (const auto& file : graph.files()) {
    is_test_.push_back(is_test_file(*file) ? 1 : 0);
    for (const auto& list : file->switches) {
      for (const Switch& s : list) asked.add(s.name);
    }
  }
  if (asked.names.empty()) return;
  const std::vector<Parameter> parameters = parameters_of(graph);
  for (unsigned hop = 0; hop <= kMaxAliases && !asked.names.empty(); ++hop) {
    for (const uint32_t name : asked.names) given_[name];
    gather(graph, asked);
    for (const Parameter& p : parameters) {
      if (asked.has(p.name)) of_parameter(graph, p.function, p.position);
    }
    Wanted next;
    for (const uint32_t name : asked.names) {
      std::vector<NamedValue>& values = given_[name];
      std::ranges::sort(values);
      values.erase(std::unique(values.begin(), values.end()), values.end());
      for (const NamedValue& value : values) {
        if ((value.kind == Given::same_as || value.kind == Given::when_on) &&
            !given_.contains(value.value))
          next.add(value.value);
      }
    }
    asked = std::move(next);
  }
}

/// What files give these names.
void Switchboard::gather(const CallGraph& graph, const Wanted& wanted) {
  for (size_t file = 0; file < is_test_.size(); ++file) {
    if (is_test_[file] != 0) continue;
    for (const NamedValue& value : graph.files()[file]->named_values) {
      if (wanted.has(value.name)) add(value, given_[value.name]);
    }
  }
}

/// What calls may give values by position.
std::vector<Switchboard::Parameter> Switchboard::parameters_of(const CallGraph& graph) const {
  std::vector<Parameter> out;
  for (FunctionId id = 0; id < graph.functions(); ++id) {
    const FunctionFacts& f = graph.function(id);
    if (f.parameters.empty() || graph.file(id).is_compiled() || is_test_[graph.file_index(id)] != 0)
      continue;
    for (uint32_t p = 0; p < f.parameters.size(); ++p)
      out.push_back({option_hash(f.parameters[p]), id, p});
  }
  return out;
}

/// What calls give a parameter.
void Switchboard::of_parameter(const CallGraph& graph, FunctionId function, uint32_t parameter) {
  const FunctionFacts& f = graph.function(function);
  const std::string& name = f.parameters[parameter];
  const uint32_t hash = option_hash(name);
  std::vector<NamedValue>& given = given_[hash];
  if ((f.takes_self() && parameter == 0) || is_open(given)) return;
  const uint32_t position = position_of(f, parameter);
  const bool required = position < f.required;
  const auto anything = [&] { add({hash, 0, Given::other}, given); };
  // What frameworks call they may give anything, by position.
  constexpr uint32_t kCalledByOthers = kForward | kHook | kEntryPoint;
  bool known = (f.flags & kCalledByOthers) == 0;
  if (!known && !required && is_switch_name(name)) known = true;
  bool any = false;
  for (const uint32_t e : graph.callers(function)) {
    const Edge& edge = graph.edges()[e];
    const CallFacts& call = *edge.call;
    if (call.form == CallForm::reference || is_test_[graph.file_index(edge.from)] != 0) continue;
    any = true;
    if (call.positional == kAnyArguments || call.positional <= position) continue;
    const auto literal = std::ranges::find(call.literals, name_hash(std::to_string(position)),
                                           [](const auto& l) { return l.first; });
    if (literal != call.literals.end()) {
      static const uint32_t none = literal_hash("None"), no = literal_hash("False"),
                            zero = literal_hash("0");
      const uint32_t value = literal->second;
      add({hash, value,
           value == none                  ? Given::none
           : value == no || value == zero ? Given::off
                                          : Given::literal},
          given);
      continue;
    }
    const std::vector<uint32_t>& names = graph.file(edge.from).handed;
    const size_t at = size_t{call.handed} + position;
    const uint32_t handed = at < names.size() ? names[at] : 0;
    if (handed == hash) continue;  // def build(fuse): return Net(fuse)
    if (handed != 0) {
      add({hash, handed, Given::same_as}, given);
      continue;
    }
    return anything();
  }
  if (!known || (required && !any)) anything();
}

bool Switchboard::may_hold(const Switch& asked, unsigned hops) const {
  // Remembered for each number of hops: names that stand for each other would be asked again and
  // again, in ways that multiply with each hop.
  const std::pair key{asked, hops};
  if (const auto known = answers_.find(key); known != answers_.end()) return known->second;
  const bool answer = any_given_holds(asked, hops);
  answers_.emplace(key, answer);
  return answer;
}

bool Switchboard::any_given_holds(const Switch& asked, unsigned hops) const {
  const auto found = given_.find(asked.name);
  // What is nowhere given comes from outside; but a key that is asked for may be nobody's.
  if (found == given_.end() || found->second.empty()) return asked.test != Switch::Test::present;
  const bool turned_on = asked.test == Switch::Test::on || asked.test == Switch::Test::given ||
                         asked.test == Switch::Test::equals;
  return std::ranges::any_of(found->second, [&](const NamedValue& given) {
    if (given.kind == Given::when_on)
      return !turned_on || hops == 0 || may_hold({given.value, 0, Switch::Test::on}, hops - 1);
    if (given.kind != Given::same_as) return holds(asked, given);
    return hops == 0 || may_hold({given.value, asked.value, asked.test}, hops - 1);
  });
}

bool Switchboard::never_holds(const Switch& asked) const {
  return !may_hold(asked, kMaxAliases);
}

bool Switchboard::is_off(const FileFacts& file, uint32_t list) const {
  if (list >= file.switches.size()) return false;
  return std::ranges::any_of(file.switches[list],
                             [&](const Switch& asked) { return never_holds(asked); });
}

bool Switchboard::is_switched_off(const FileFacts& file, uint32_t list) const {
  if (list >= file.switches.size()) return false;
  return std::ranges::any_of(file.switches[list], [&](const Switch& asked) {
    return !is_choice(asked) && never_holds(asked);
  });
}

}  // namespace stallscope
