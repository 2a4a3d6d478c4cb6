// Switchboard: which options a project never turns on, by all that its sources, configurations and
// launch scripts give their names.
#pragma once

#include <bitset>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "source/link/call_graph.h"

namespace stallscope {

class Switchboard {
 public:
  /// `graph` need not outlive this.
  explicit Switchboard(const CallGraph& graph);

  /// Whether what waits for all switches of a list of the file never runs: something gives the name
  /// of one a value, and nothing one for which it waits. What tests turn on is on for them alone.
  bool is_off(const FileFacts& file, uint32_t list) const;
  /// The same for what is off itself: of `if args.method == "beam":` another run chooses.
  bool is_switched_off(const FileFacts& file, uint32_t list) const;

 private:
  /// Names that are looked for at a time.
  struct Wanted {
    std::unordered_set<uint32_t> names;
    std::bitset<65536> filter;  ///< most names are not
    void add(uint32_t name) { filter.set(name % filter.size()), names.insert(name); }
    bool has(uint32_t name) const {
      return filter.test(name % filter.size()) && names.contains(name);
    }
  };
  /// A parameter of the program's own functions; its name is worked out once, not for each alias.
  struct Parameter {
    uint32_t name;
    FunctionId function;
    uint32_t position;
  };
  std::vector<Parameter> parameters_of(const CallGraph& graph) const;
  void gather(const CallGraph& graph, const Wanted& wanted);
  void of_parameter(const CallGraph& graph, FunctionId function, uint32_t parameter);
  /// Whether a value that is given makes the condition hold, looking through `hops` aliases.
  bool may_hold(const Switch& asked, unsigned hops) const;
  bool any_given_holds(const Switch& asked, unsigned hops) const;
  bool never_holds(const Switch& asked) const;

  std::vector<uint8_t> is_test_;  ///< per file
  /// Of the names that conditions ask for, and of those that these are the same as.
  std::unordered_map<uint32_t, std::vector<NamedValue>> given_;
  mutable std::map<std::pair<Switch, unsigned>, bool> answers_;
};

}  // namespace stallscope
