// CallGraph: the functions of all files and which calls which.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "source/facts/facts.h"
#include "source/facts/module_paths.h"
#include "source/link/class_graph.h"

namespace stallscope {

using FunctionId = uint32_t;  ///< over all files

struct Edge {
  FunctionId from = 0, to = 0;
  const CallFacts* call = nullptr;
  uint32_t loop = kNone;  ///< of the caller, with which the called function's body runs
  uint32_t guards = 0;    ///< of the call: most calls need not be looked at themselves
};

class CallGraph {
 public:
  /// `files` must outlive the graph.
  explicit CallGraph(std::span<const std::unique_ptr<FileFacts>> files);
  CallGraph(const CallGraph&) = delete;  // the classes look at the modules
  CallGraph& operator=(const CallGraph&) = delete;

  size_t functions() const { return where_.size(); }
  const FunctionFacts& function(FunctionId id) const;
  const FileFacts& file(FunctionId id) const { return *files_[where_[id].first]; }
  FunctionId id_of(size_t file, uint32_t function) const { return first_of_file_[file] + function; }
  size_t file_index(FunctionId id) const { return where_[id].first; }
  uint32_t index_in_file(FunctionId id) const { return where_[id].second; }
  const std::vector<Edge>& edges() const { return edges_; }
  /// C++: whether of all classes of the project only one has a method of the name that is called,
  /// and no container, stream or thread of the standard library has it.
  bool is_only_method(const Edge& edge) const;
  /// Edges into `id`, as indices into edges().
  std::span<const uint32_t> callers(FunctionId id) const { return callers_.of(id); }
  /// Calls of the modules whose forward pass `id` is. They are no edges: a forward pass is one
  /// whoever is seen to call it; they tell what it is given.
  std::span<const Edge> applications(FunctionId id) const;
  /// Edges out of `id`, as indices into edges().
  std::span<const uint32_t> calls(FunctionId id) const { return calls_.of(id); }

  std::span<const std::unique_ptr<FileFacts>> files() const { return files_; }
  const ClassGraph& classes() const { return classes_; }
  /// Whether a file of Python imports another, or something of it.
  bool imports(size_t file, size_t other) const;
  /// Whether `module`, as a file of Python imports it, is `other`.
  bool means(size_t file, std::string_view module, size_t other) const {
    return modules_.matches(other, module, file);
  }
  /// What a call gives for a parameter of the function it runs; unknown if nothing is known of it.
  Value argument(const Edge& edge, uint32_t parameter) const;
  /// All functions of that name.
  std::vector<FunctionId> named(std::string_view name) const;

  /// The class of the object whose method a call of `file` runs, as the file names it; empty if
  /// that is not known.
  std::string_view receiver_class(const FileFacts& file, const CallFacts& call) const;

  /// What a name means in a file: a function, or a method "self.x" of the class of `in`. `object`
  /// is the name of what a method is called on.
  std::vector<FunctionId> resolve(size_t file, std::string_view name, CallForm form, FunctionId in,
                                  std::string_view receiver_class, uint8_t given = kAnyArguments,
                                  std::string_view object = {}) const;
  /// What a method's name runs on a value that `dependency`, of a file, decides.
  std::vector<FunctionId> methods_given(size_t file, uint32_t dependency,
                                        std::string_view name) const;

 private:
  std::vector<FunctionId> methods(std::string_view class_name, std::string_view name,
                                  uint32_t from_file, CallForm form = CallForm::method) const;
  std::vector<FunctionId> constructors(std::string_view class_name, uint32_t from_file) const;
  void keep_taking(uint8_t given, std::vector<FunctionId>& functions, bool own = false) const;
  std::string_view field_class(FunctionId in, std::string_view name) const;
  std::vector<FunctionId> called_object(uint32_t f, const CallFacts& call) const;
  std::vector<FunctionId> called_back(std::string_view name, uint8_t given) const;
  std::vector<FunctionId> dispatched(uint32_t file, const CallFacts& call) const;
  std::string_view root_class(std::string_view name) const;
  void name_classes();
  bool is_own_tensors(size_t file, std::string_view method) const;
  std::vector<FunctionId> of_kind(std::string_view object,
                                  const std::vector<FunctionId>& methods) const;
  void keep_named_after(std::string_view object, std::vector<FunctionId>& methods) const;
  bool is_family_of(std::string_view klass, std::string_view name) const;
  void keep_called_after(std::string_view object, std::vector<FunctionId>& methods) const;
  bool takes(FunctionId id, uint8_t given) const;
  /// Whether a function of Python takes all the names that a call gives, by their bits.
  bool knows_keywords(FunctionId id, uint64_t keywords) const;
  bool may_have_defaults(FunctionId id, uint8_t given) const;
  std::vector<FunctionId> starred(size_t file, const std::vector<FunctionId>& candidates) const;
  void add_edges();
  struct FileEdges {
    std::vector<Edge> known, open;  ///< open: other functions decide whose method is called
    std::vector<Edge> applied;      ///< to the forward passes of the modules that are called
  };
  void find_edges(uint32_t file, FileEdges& out) const;
  void add_calls(size_t file, const CallFacts& call, const std::vector<FunctionId>& to,
                 std::vector<Edge>& out) const;
  void connect(std::span<const FileEdges> files);
  void add_applications(size_t file, const CallFacts& call, std::vector<Edge>& out) const;
  const std::vector<FunctionId>& methods_of(const ClassPlace& klass, std::string_view name,
                                            CallForm form) const;
  std::vector<FunctionId> find_methods(const ClassPlace& klass, std::string_view name,
                                       bool super) const;
  /// Whether calling a class gives an object whose methods are the class's.
  bool makes_its_objects(std::string_view class_name) const;
  /// Whether other functions decide whose method is called.
  bool is_open(size_t file, const CallFacts& call) const;
  bool derives_from(std::string_view klass, uint32_t file, std::string_view base) const;
  bool has_its_own(FunctionId method, FunctionId caller) const;
  std::string_view own_class(FunctionId id) const;
  std::vector<FunctionId> nested(FunctionId in, std::string_view name) const;
  std::vector<FunctionId> wrappers(uint32_t file, const CallFacts& call) const;
  std::vector<FunctionId> named_by_prefix(size_t file, const CallFacts& call) const;
  std::vector<FunctionId> batch_movers(size_t file, std::string_view name) const;
  void find_batch_movers();
  bool takes_steps(FunctionId id) const;
  bool are_alike(std::span<const FunctionId> methods) const;
  std::vector<FunctionId> open_targets(size_t file, const CallFacts& call) const;
  struct Classes {
    std::vector<ClassPlace> found;
    std::vector<FunctionId> functions;  ///< that the value may be instead
    unsigned looked_at = 0;  ///< values, so that callers of callers of callers come to an end
  };
  std::vector<FunctionId> methods_of_all(const Classes& classes, std::string_view name) const;
  bool add_named(size_t file, std::string_view name, Classes& out) const;
  bool add_given(FunctionId in, uint32_t parameter, unsigned hops, Classes& out) const;
  std::vector<FunctionId> makers(size_t file, const Dependency& on, unsigned hops,
                                 Classes& out) const;
  bool add_classes(size_t file, uint32_t dependency, unsigned hops, Classes& out) const;
  std::vector<FunctionId> members(const ClassPlace& klass, std::string_view name) const;
  std::span<const FunctionId> members(std::string_view class_name, std::string_view name) const;

  std::span<const std::unique_ptr<FileFacts>> files_;
  ModulePaths modules_;
  ClassGraph classes_;
  std::vector<std::pair<uint32_t, uint32_t>> where_;
  std::vector<FunctionId> first_of_file_;
  /// to() or cuda() of a class that is no module, and the files that import its file.
  struct BatchMover {
    FunctionId method;
    std::vector<uint32_t> importers;
  };
  std::unordered_map<std::string_view, std::vector<FunctionId>> by_name_;
  std::vector<BatchMover> batch_movers_;
  /// by class, then by name
  std::unordered_map<std::string_view, std::map<std::string_view, std::vector<FunctionId>>>
      members_;
  /// Methods by class, name (where by_name_ keeps it) and whether super() is asked.
  mutable std::mutex methods_mutex_;
  mutable std::map<std::tuple<const ClassFacts*, const char*, bool>, std::vector<FunctionId>>
      methods_;
  /// A class's name and that of the first of its hierarchy, in small letters alone.
  struct ClassNames {
    std::string own, root;
  };
  std::vector<ClassNames> class_names_;
  std::vector<uint32_t> class_name_of_;          ///< by function, into class_names_
  std::unordered_set<std::string_view> remade_;  ///< classes with a __new__() or __getattr__()
  std::vector<Edge> edges_;
  /// Edges of each function, as indices into edges_, one function behind the other.
  struct EdgeLists {
    std::vector<uint32_t> first{0};  ///< by function: where its own begin; and where all end
    std::vector<uint32_t> edges;
    std::span<const uint32_t> of(FunctionId id) const {
      return std::span(edges).subspan(first[id], first[id + 1] - first[id]);
    }
  };
  EdgeLists lists_by(FunctionId Edge::* end) const;
  EdgeLists callers_;
  EdgeLists calls_;
  std::vector<Edge> applied_;  ///< by Edge::to
};

/// Whether a method of C++ is called on an object of which nothing but the name is known.
bool is_dispatched(const FileFacts& file, const CallFacts& call, std::string_view receiver);
/// Whether methods of that name are so common that it says nothing.
bool is_common_method(std::string_view name);
/// Whether such a name says at least that something is done: update(), but not item() or keys().
bool is_common_action(std::string_view name);

}  // namespace stallscope
