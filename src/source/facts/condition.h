// SourceCondition: where a rule can be seen in code, as its file says it. Data
// only: rule files are read in src/rule, matching happens in src/source.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "source/facts/source_fact.h"

namespace stallscope {

/// The type that `declares:` names when it means a class of the program that holds device memory.
inline constexpr std::string_view kOwnDeviceBuffer = "device-buffer-class";

/// What an argument of the matched call must look like.
struct ArgumentTest {
  std::string name;  ///< keyword, or "0", "1", ... by position, or "name/1" for either
  /// "absent", "present", "starred" (perhaps, by *args), a literal, or "kind:tensor"
  std::vector<std::string> any_of;
};

/// A condition on code around or below the match: `inside: for`, `has: {call: backward}`.
struct NestedTest {
  std::string relation;  ///< "inside", "has", "not-inside", "not-has"
  /// "for", "while", "loop", "with", ...; of loops also "parameter-loop", "callers-parameter-loop"
  /// (in which the function itself is called), "inner-loop", "its-own-loop",
  /// "loop-around-its-uses"; "hand-over": what it makes is kept or returned;
  /// "its-caller": the function around it calls what it makes; "returned-gradient" of what it makes;
  /// "collate-function": a loader's, by its name; empty = any
  std::string node;
  std::vector<std::string> calls;     ///< a call to one of these
  std::vector<std::string> patterns;  ///< or code of this shape
};

/// One way a rule can match. All that is given must hold.
struct SourceClause {
  std::vector<std::string> languages;  ///< "python", "cpp", "cuda", "config"; empty = the rule's
  std::vector<std::string> calls;      ///< "item", "torch.cuda.synchronize", "torch.linalg.*"
  std::vector<std::string> patterns;   ///< code with metavariables $X, in the file's grammar
  std::string matcher;                 ///< name of a registered matcher (data flow only)
  std::string on;                      ///< value kind of the receiver or first argument
  std::string certainty;               ///< the least certainty of `on`: unknown, likely, proven
  std::vector<std::string>
      contexts;  ///< step, forward, loop, init, eval, jit, launcher, allocator, any
  std::vector<std::string> unless;  ///< guards that silence
  std::vector<std::string> lower;   ///< guards that lower the severity only
  std::vector<ArgumentTest> args;
  std::vector<ArgumentTest>
      settings;  ///< of a script or configuration file; the first has the place
  std::map<std::string, std::string> where;  ///< metavariable -> value kind
  std::vector<NestedTest> nested;
  std::string file_has, file_lacks;    ///< identifiers that must (not) occur in the file
  std::vector<std::string> declares;   ///< C++: types whose local objects are made there
  std::vector<std::string> decorates;  ///< Python: decorators of functions
  std::string function_has;            ///< text that must occur in the function
  std::string own_lacks;               ///< text that the outermost function or class must lack
  bool weak = false;  ///< what it costs depends on what is not seen: low until it is measured
};

/// A rule matches where any of its clauses does.
struct SourceCondition {
  std::vector<SourceClause> any;
};

/// What the source engine needs to know of a rule.
struct SourceRule {
  std::string id;
  std::vector<std::string> languages;
  std::shared_ptr<const SourceCondition> condition;
  bool once_per_function = false;  ///< further matches in a function say nothing new
  bool host_block = false;         ///< each match stops the host: one expression is one finding
};

}  // namespace stallscope
