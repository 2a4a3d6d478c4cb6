// FileFacts: what one file says by itself. A pure function of its bytes, its path, the
// rules and the tool's version; this alone is cached. Everything that needs
// another file is left as a name for the link (see index.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/facts/value.h"

namespace stallscope {

inline constexpr uint32_t kNone = 0xffffffffu;

/// A value that another function decides.
struct Dependency {
  DependencyKind kind = DependencyKind::none;
  /// Function or class, as resolved in this file; of an `entry`, its key, or "*" for any.
  std::string name;
  /// Of which function a parameter; in which function a method of self or of super() is called, of
  /// which a value is what it `returns`; of which dependency an `element`, a `part`, a `method` or
  /// an `entry`.
  uint32_t function = 0;
  uint32_t parameter = 0;  ///< which one, or at which position a `part` stands
  /// Whether a call decides it, of a function or of a method.
  bool by_call() const { return kind == DependencyKind::returns || kind == DependencyKind::method; }
  /// `either`: the two dependencies, as Value::dependency counts them.
  std::pair<uint32_t, uint32_t> both() const { return {function, parameter}; }
};

inline constexpr uint8_t kAnyArguments = 255;  ///< how many is not known, or unlimited

enum FunctionFlag : uint32_t {
  kForward = 1u << 0,         ///< forward or __call__ of a module
  kJitCompiled = 1u << 1,     ///< decorated with jit or compile
  kCachedFunction = 1u << 2,  ///< lru_cache, cached_property
  kStepEvidence = 1u << 3,    ///< itself calls backward, optimizer step or grad, outside loops
  kEntryPoint = 1u << 4,      ///< a framework calls it every step
  kInitFunction = 1u << 5,
  kEvalFunction = 1u << 6,
  kCheckpointFunction = 1u << 7,
  kTestFunction = 1u << 8,
  kNested = 1u << 9,
  kModuleLevel = 1u << 10,
  kReturnsInterval = 1u << 11,  ///< answers "is it time to log?"
  kMainFunction = 1u << 12,
  kReferenced = 1u << 13,         ///< handed on as a value somewhere
  kFollowsDevice = 1u << 16,      ///< works on the device of what it is given
  kInferenceFunction = 1u << 15,  ///< generates, predicts, shows: its caller wants host values
  kDecorated = 1u << 17,          ///< by what may hand it on: @register
  kWeakRole = 1u << 14,           ///< its name says init or eval, but steps call such functions too
  kDeviceWork = 1u << 18,         ///< C++: launches kernels or starts copies
  kWithoutGrad = 1u << 19,        ///< runs a model in a loop under no_grad
  kHook = 1u << 23,               ///< PyTorch calls it in each forward or backward pass
  kProperty = 1u << 22,           ///< read like an attribute
  kMacro = 1u << 24,        ///< C++: a macro that looks like a function, whose users answer for it
  kPrefetches = 1u << 25,   ///< yields from a queue in which the next batches are on their way
  kLoadsItself = 1u << 26,  ///< makes a loader without workers
  kSetsDevice = 1u << 27,   ///< torch.set_default_device(): what is made anywhere is made there
  kHasWorkers = 1u << 20,   ///< makes a loader whose workers have the next batch ready
  kScansSteps = 1u << 28,   ///< JAX: hands its step to scan() or the like, which runs all of them
  kGenerator = 1u << 21,    ///< yields: its body runs with the loop over what it makes
};

struct FunctionFacts {
  std::string name;       ///< "train_step"
  std::string qualified;  ///< "Trainer.train_step"
  std::string class_name;
  uint32_t parent = kNone;  ///< function this one is nested in
  uint32_t first_line = 0, last_line = 0;
  uint32_t flags = 0;
  Value returns;
  Value declared;            ///< what the annotation says that it returns
  std::vector<Value> parts;  ///< of the tuple that it returns, where it always returns one
  /// Of the mappings that it returns, by hashes of their keys, in order.
  std::vector<std::pair<uint32_t, Value>> entries;
  std::vector<std::string> parameters;
  /// Python: classes that annotations name, "" where none does; empty if there is no such one.
  std::vector<std::string> parameter_types;
  uint8_t required = 0;              ///< arguments a call must give, beside self
  uint8_t accepted = kAnyArguments;  ///< and may give
  bool copies = false;               ///< C++: a constructor that takes another object of the class
  uint32_t frees_at = 0;             ///< C++: the first line that frees device memory; 0 = none
  uint32_t allocates_at = 0;         ///< C++: the first line that takes device memory; 0 = none

  /// Whether it does little but one thing, for which those who call it answer.
  bool is_short() const { return last_line - first_line < 20; }
  /// C++: whether it makes or takes down an object of its class.
  bool makes_or_ends() const {
    const std::string_view of = class_name;
    return !of.empty() && (name.starts_with('~') || name == of.substr(of.rfind(':') + 1));
  }
  /// Whether Python hands the object or the class in first, by the name of the first parameter.
  bool takes_self() const {
    return !parameters.empty() && (parameters.front() == "self" || parameters.front() == "cls");
  }
};

struct LoopFacts {
  uint32_t function = 0;
  uint32_t parent = kNone;
  uint32_t first_line = 0, last_line = 0;
  bool optimizer_step = false;  ///< holds one in its body, in this function
  bool backward = false;
  bool over_parameters = false;
  bool over_groups = false;  ///< of parameters, which nothing in its head takes one by one
  bool over_optimizers = false;
  bool over_layers = false;   ///< of a network: its head names them
  bool over_devices = false;  ///< C++: of the machine, likewise
  bool over_batches = false;  ///< runs over what a loader or a collector of rollouts yields
  bool over_loader = false;   ///< and does not just count them
  bool runs_model = false;    ///< calls a model in its body
  bool validates = false;     ///< calls it under no_grad(), or put into evaluation before
  bool generates = false;     ///< and makes outputs of many passes: next to those a wait is nothing
  bool comprehension = false;
  bool seldom = false;       ///< its head names epochs or evaluations
  bool accumulates = false;  ///< its head names micro-batches: each pass is a part of a step
  bool repeats = false;      ///< its head counts updates for one pass of the loop around it
  bool replays = false;      ///< and does so on what was just collected, in a function of its own
  bool fetches = false;      ///< takes the next batch in its own body
  bool yields = false;       ///< in its own body, as a generator
  bool plays = false;        ///< steps an environment in its body
  bool learns = false;       ///< somewhere within, what acts in it is updated
};

enum class CallForm : uint8_t {
  function,
  self_method,
  super_method,
  method,
  prefix,     ///< `getattr(self, "loss_" + name)`: methods whose names begin so
  property,   ///< an attribute is read: calls it if it is a property
  decorator,  ///< `@timed` above a function: what timed() makes of it runs when it is called
  module,     ///< `self.encoder(x)` of a module: hands what it is given to the forward pass
  reference   ///< handed on as a value: it may be called from here
};

/// What a name is given somewhere: a default, an argument, a key, an option of a command line.
struct NamedValue {
  enum class Kind : uint8_t {
    none,
    off,      ///< False, 0, "", []
    literal,  ///< any other
    other,    ///< what only a run knows
    same_as,  ///< what another name has: `value` is its hash
    when_on   ///< something, where another name is on, or given: `value` is its hash
  };
  uint32_t name = 0;   ///< hash of its last part: fuse of model.fuse, cfg["fuse"], --fuse
  uint32_t value = 0;  ///< hash of the literal
  Kind kind = Kind::other;
  auto operator<=>(const NamedValue&) const = default;
};

/// What a place waits for: `if args.debug_maps:`, `if self.mode == "slow":` around it. It runs only
/// where the name has such a value.
struct Switch {
  enum class Test : uint8_t {
    on,
    off,
    given,
    missing,
    equals,
    differs,
    present  ///< `if "mask_token" in cfg`
  };
  uint32_t name = 0;   ///< as in NamedValue
  uint32_t value = 0;  ///< hash of the literal that it is compared with
  Test test = Test::on;
  auto operator<=>(const Switch&) const = default;
};

/// An argument that a place waits for: it runs only where `function` was called with it.
struct Option {
  uint32_t function = kNone;   ///< of the file: the place's own, or its class's constructor
  uint32_t parameter = kNone;  ///< which, by default, is something else
  uint32_t literal = 0;        ///< hash of the text it must be; 0 = neither None, False nor 0
};

struct CallFacts {
  std::string name;  ///< dotted for functions, bare for methods
  CallForm form = CallForm::function;
  uint32_t function = 0;
  uint32_t loop = kNone;
  uint32_t consumer = kNone;  ///< the loop over what the call makes
  uint32_t line = 0;
  /// Of calls that may answer for what they call: to what waits, by its name, or of a new tensor.
  uint32_t first_byte = 0, last_byte = 0, column = 0;
  std::string line_text;  ///< likewise
  uint32_t guards = 0;
  uint8_t given = kAnyArguments;       ///< arguments of a method's call
  uint8_t positional = kAnyArguments;  ///< Python: of them by position
  uint64_t keywords = 0;               ///< Python: a bit for each name given, by its hash
  /// The last name of what a method is called on, or of what holds it; of references, of the object
  /// whose attribute they are.
  std::string object;
  uint32_t receiver = 0;     ///< dependency that says whose method it is; 0 = unknown
  bool moves_batch = false;  ///< batch.to(device), on what a loader yields
  std::vector<std::pair<std::string, Value>>
      arguments;  ///< those of a known kind, by name or position
  /// Python: those that are literals, hashes of their names or positions and of their texts.
  std::vector<std::pair<uint32_t, uint32_t>> literals;
  /// Python: of the names that its arguments by position end in the first, in FileFacts::handed.
  uint32_t handed = 0;
  uint32_t switches = 0;  ///< without any of which it does not run; in FileFacts::switches
  Option option;          ///< without which it is not made
};

struct ClassFacts {
  std::string name;
  std::vector<std::string> bases;  ///< resolved
  bool is_module = false;
  /// C++: names and declared types of what its objects hold.
  std::vector<std::pair<std::string, std::string>> fields;
  /// Python: hashes of the names of the outermost definitions in its file that name it, beside its
  /// own; 0 stands for what the module itself does, and for decorators.
  std::vector<uint32_t> users;
};

/// A place where everything this file can decide about a rule holds.
struct Candidate {
  uint32_t rule = 0, clause = 0;
  uint32_t function = 0;
  uint32_t loop = kNone;
  uint32_t first_byte = 0, last_byte = 0;
  uint32_t first_line = 0, last_line = 0, column = 0;
  uint32_t anchor_line = 0;    ///< last line of the callee: where newer Pythons report the call
  std::vector<uint32_t> also;  ///< further lines of the function that it is about
  uint32_t block = 0;          ///< the outermost expression: one host block is one finding
  uint32_t guards = 0;
  Value subject;
  Option option;
  uint32_t switches = 0;        ///< likewise of values that may come from anywhere; see CallFacts
  uint32_t default_of = kNone;  ///< parameter whose default is made here, under `if x is None`
  /// Which metavariable of the clause's `where` the subject is, which only the link knows, counted
  /// from 1; 0 for none.
  uint8_t open = 0;
  bool in_inner_loop = false;
  bool in_callers_loop = false;   ///< the function must be called for each parameter
  uint8_t given = kAnyArguments;  ///< C++: to the constructor of what is declared
  std::string line_text;
  unsigned ordinal = 0;
  std::vector<std::pair<std::string, std::string>> metavariables;
};

struct FileFacts {
  std::string path;  ///< relative to the project's root
  std::string content_hash;
  std::string language;
  /// Whether it is C++ or CUDA.
  bool is_compiled() const { return language == "cpp" || language == "cuda"; }
  bool skipped = false;  ///< names no framework, or too large
  bool broken = false;   ///< skipped, since it is called a notebook and is none
  std::string note;      ///< why it was skipped or how much could not be read
  double readable = 1;   ///< share of the bytes the parser could read
  bool has_suppressions = false;
  std::vector<std::string> lines_of_cells;  ///< notebooks: "cell 3" per cell start
  std::vector<FunctionFacts> functions;     ///< 0 is the module itself
  std::vector<LoopFacts> loops;
  std::vector<CallFacts> calls;
  std::vector<ClassFacts> classes;
  std::vector<Dependency> dependencies;
  /// What Value::dependency stands for; null for 0, and for what no list that was read has.
  const Dependency* dependency(uint32_t at) const {
    return at != 0 && at <= dependencies.size() ? &dependencies[at - 1] : nullptr;
  }
  std::vector<std::pair<std::string, std::string>> aliases;  ///< step = jit(train_step)
  std::vector<std::pair<std::string, std::string>> imports;  ///< bound name -> path
  std::vector<uint32_t> mentions;             ///< hashes of the names used here, sorted; of Python
  std::vector<uint32_t> used_words;           ///< likewise of C++, other than to declare them
  std::vector<NamedValue> named_values;       ///< sorted; of Python, configurations, launch scripts
  std::vector<std::vector<Switch>> switches;  ///< 0 stands for what waits for none
  std::vector<uint32_t> handed;               ///< hashes of names of arguments; 0 = it has none
  std::vector<std::string> bound;             ///< C++ functions that this file hands to Python
  std::vector<std::string> hiding_macros;  ///< macros of C++ whose bodies call what rules are about
  std::vector<Candidate> candidates;
  bool typed = false;  ///< C++: libclang's types were used; never so in the cache
};

}  // namespace stallscope
