#include "source/match/place_guards.h"

#include "source/match/reread_arrays.h"
#include "source/names/mentions.h"
#include "source/names/roles.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Whether a function of this name writes, shows or scores what must be on the host for it.
bool wants_host_values(std::string_view name) {
  return name == "save" || name == "imshow" || name == "imsave" || name == "imwrite" ||
         name == "savez" || name == "savefig" || name == "specshow" || name == "dump" ||
         name == "write_video" || name == "save_image" || name == "to_csv";
}

/// accuracy_score(labels, predictions)
bool is_score(std::string_view name) {
  return name.ends_with("_score") &&
         contains_any(name, {"auc", "f1", "accuracy", "precision", "recall", "r2"});
}

}  // namespace

/// Whether `text` holds the name, or one of the tuple of names, that is assigned to.
bool PlaceGuards::is_named_in(NodeId assigned, std::string_view text) const {
  for (NodeId at = assigned; at != kNoNode && at < ast_[assigned].end; ++at) {
    if (ast_[at].kind == K::name && holds_identifier(text, ast_[at].text)) return true;
  }
  return false;
}

std::string_view PlaceGuards::moved_from(NodeId call) const {
  NodeId callee = ast_.child(call, Role::callee);
  NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
  return object == kNoNode ? std::string_view() : ast_.slice(object);
}

std::string_view PlaceGuards::iterated_around(NodeId call) const {
  const NodeId up = ast_[call].parent;
  const NodeId clause = ast_[up].kind == K::comprehension ? ast_[call].next : kNoNode;
  const NodeId over = clause == kNoNode ? kNoNode : ast_.child(clause, Role::right);
  return over == kNoNode ? std::string_view() : ast_.slice(over);
}

/// update(batch): what goes backward and steps no environment has its actions from a memory. A loop
/// that goes backward says it before its function, which may play in another loop.
bool PlaceGuards::learns_from_memory(NodeId id) const {
  const auto learns = [&](std::string_view text) { return text.find(".backward(") != text.npos; };
  const auto plays = [&](std::string_view text) {
    return ast_.grammar == Grammar::python ? contains_any(text, {"env.step", "envs.step"})
                                           : contains_any(text, {"env"});
  };
  for (uint32_t loop = file_.outline.loop_of[id]; loop != kNone; loop = facts_.loops[loop].parent) {
    const std::string_view text = ast_.slice(file_.outline.loops[loop]);
    if (learns(text)) return !plays(text);
  }
  const std::string_view text = ast_.slice(file_.outline.functions[file_.outline.function_of[id]]);
  return learns(text) && !plays(text);
}

/// ReplayMemory.sample(n): what is learnt from is played no more.
bool PlaceGuards::samples_memory(const FunctionFacts& function) {
  return has_word(lower(snake_case(function.class_name)), {"memory", "replay", "buffer"}) &&
         has_word(function.name, {"sample", "batch"});
}

/// collect(): what steps environments and learns nothing exchanges values with the host.
bool PlaceGuards::plays(uint32_t function) const {
  if (function == 0 || ast_.grammar != Grammar::python) return false;
  Answer& answer = plays_[function];
  if (answer == Answer::open) {
    const std::string_view text = ast_.slice(file_.outline.functions[function]);
    const auto has = [&](std::string_view word) {
      return text.find(word) != std::string_view::npos;
    };
    const bool steps = has("env.step(") || has("envs.step(");
    const bool learns = has("backward(") || has("update") || has("learn") || has("train");
    answer = steps && !learns ? Answer::yes : Answer::no;
  }
  return answer == Answer::yes;
}

bool PlaceGuards::is_environment_value(NodeId id) const {
  if (ast_[id].kind != K::call) return false;
  for (NodeId at = id; at < ast_[id].end; ++at) {
    // torch.tensor(0.5, device=actions.device) is no action
    const Node& around = ast_[ast_[at].parent];
    const bool of_its_kind =
        around.kind == K::attribute && is_one_of(around.text, {"device", "dtype", "shape"});
    if (ast_[at].kind == K::name && !of_its_kind && is_environment_name(ast_[at].text)) return true;
  }
  // actions = policy(x).cpu()
  NodeId at = ast_[id].parent;
  while (at != kNoNode && (ast_[at].kind == K::attribute || ast_[at].kind == K::call))
    at = ast_[at].parent;
  const NodeId left =
      at != kNoNode && ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
  return left != kNoNode && ast_[left].kind == K::name && is_environment_name(ast_[left].text);
}

/// C++: rewards[c][0].item(), of what the environment gave on the host.
bool PlaceGuards::reads_reward(NodeId id) const {
  if (ast_.grammar != Grammar::cuda || ast_[id].kind != K::call) return false;
  for (NodeId at = id; at < ast_[id].end; ++at) {
    if (ast_[at].kind == K::name && ast_[ast_[at].parent].kind == K::subscript &&
        is_one_of(ast_[at].text, {"reward", "rewards", "done", "dones"}))
      return true;
  }
  return false;
}

/// step.item() in an optimiser of PyTorch: its counters of steps stay on the host.
bool PlaceGuards::reads_step_counter(NodeId id) const {
  if (ast_.grammar != Grammar::python || ast_[id].kind != K::call ||
      callee_name(ast_, id) != "item" || file_.names.uses_jax())
    return false;
  const NodeId object = ast_.child(ast_.child(id, Role::callee), Role::object);
  return object != kNoNode &&
         is_one_of(ast_.slice(object),
                   {"step", "steps", "step_t", "state_step", "state[\"step\"]", "state['step']"});
}

/// env.step(a.item())
bool PlaceGuards::steps_simulator(NodeId call) const {
  const NodeId callee = ast_.child(call, Role::callee);
  const NodeId object = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
  return object != kNoNode && callee_name(ast_, call) == "step" &&
         is_simulator_name(ast_[object].text);
}

/// C++: `float* allocate(int n) { float* p; cudaMalloc(&p, n * 4); return p; }`: nothing is kept
/// from which the next one could be served.
bool PlaceGuards::hands_out_new(uint32_t function) const {
  constexpr uint32_t kLongest = 10;
  const FunctionFacts& facts = facts_.functions[function];
  const NodeId body = file_.outline.functions[function];
  const std::string_view text = ast_.slice(body);
  if (!facts.class_name.empty() || facts.last_line - facts.first_line > kLongest ||
      text.find("return ") == std::string_view::npos ||
      contains_any(text, {"cache", "pool", "chunk", "block", "find", "free", "map", "static"}))
    return false;
  for (NodeId at = body; at < ast_[body].end; ++at) {
    if (ast_[at].kind == K::for_ || ast_[at].kind == K::while_) return false;
  }
  return !compares_sizes(body);
}

/// C++: whether a function compares anything but pointers with none and errors with success.
bool PlaceGuards::compares_sizes(NodeId body) const {
  for (NodeId at = body; at < ast_[body].end; ++at) {
    if (ast_[at].kind == K::compare && !contains_any(ast_.slice(at), {"null", "success"}))
      return true;
  }
  return false;
}

/// C++: `void resize(int n, float** data) { cudaFree(*data); cudaMalloc(data, n); }`, which
/// compares no sizes: in each call. So are gpuMalloc(void** p, int n) and gpuFree(void* p).
bool PlaceGuards::allocates_anew(NodeId call) const {
  const uint32_t function = file_.outline.function_of[call];
  const FunctionFacts& facts = facts_.functions[function];
  if (hands_out_new(function)) return true;
  const std::string name = lower(facts.name);
  if (name == "free") return false;  // as likely the library's
  const bool frees =
      facts.class_name.empty() && starts_with_any(name, {"free", "release", "destroy"});
  if (!has_word(lower(snake_case(facts.name)), {"resize"}) && !is_allocation_name(facts.name) &&
      !is_release_name(facts.name) && !frees)
    return false;
  const NodeId handed = ast_[call].kind == K::call ? ast_.child(call, Role::argument) : kNoNode;
  std::string_view pointer = handed == kNoNode ? std::string_view() : ast_.slice(handed);
  if (pointer.starts_with('*')) pointer.remove_prefix(1);
  // free_buffers(Buffers& b): what its caller had made for it
  if (frees) pointer = pointer.substr(0, pointer.find_first_of(".-["));
  if (std::ranges::find(facts.parameters, pointer) == facts.parameters.end()) return false;
  const NodeId body = file_.outline.functions[function];
  return !contains_any(ast_.slice(body), {"cache", "pool", "chunk", "map", "static"}) &&
         !compares_sizes(body);
}

/// Whether an environment is told what is read: at once, or as a = dist.sample().item();
/// env.step(a).
bool PlaceGuards::is_for_simulator(NodeId id) const {
  NodeId at = id;
  while (ast_[at].kind != K::assign) {
    const NodeId up = ast_[at].parent;
    if (up == kNoNode || ast_[up].kind == K::block) return false;
    if (ast_[up].kind == K::call && ast_[at].role == Role::argument && steps_simulator(up))
      return true;
    at = up;
  }
  const NodeId left = ast_.child(at, Role::left);
  if (left == kNoNode || ast_[left].kind != K::name) return false;
  const NodeId whole = file_.outline.functions[file_.outline.function_of[id]];
  for (NodeId next = ast_[at].end; next < ast_[whole].end; ++next) {
    if (ast_[next].kind == K::name && ast_[next].text == ast_[left].text)
      return ast_[next].role == Role::argument && steps_simulator(ast_[next].parent);
  }
  return false;
}

/// image = to_image(x.cpu()); imwrite(path, image): whether what is made of it is written, shown or
/// saved further down in its block.
bool PlaceGuards::is_written_out(NodeId id) const {
  NodeId at = id;
  while (at != kNoNode && ast_[at].kind != K::assign && ast_[at].kind != K::block)
    at = ast_[at].parent;
  const NodeId left =
      at != kNoNode && ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
  const NodeId block = left == kNoNode ? kNoNode : ast_.ancestor(at, K::block);
  if (block == kNoNode || ast_[left].kind != K::name) return false;
  for (NodeId use = ast_[at].end; use < ast_[block].end; ++use) {
    if (ast_[use].kind != K::call || !is_one_of(callee_name(ast_, use), {"imwrite", "imsave"}))
      continue;
    for (NodeId part = use; part < ast_[use].end; ++part) {
      if (ast_[part].kind == K::name && ast_[part].text == ast_[left].text) return true;
    }
  }
  return false;
}

/// Whether what is scored in a loop that goes backward is scored in each step, not in an
/// evaluation.
bool PlaceGuards::is_beside_backward(NodeId id) const {
  const uint32_t loop = file_.outline.loop_of[id];
  return loop != kNone && facts_.loops[loop].backward;
}

bool PlaceGuards::is_host_library(NodeId call) const {
  const Dotted& path = file_.names.resolve(ast_.child(call, Role::callee));
  return (path.imported && path.path.starts_with("scipy.stats")) ||
         contains_any(path.path, {"self.scipy"});
}

/// `if delay: time.sleep(delay)`: wanted, and mostly off.
bool PlaceGuards::waits_as_told(NodeId id) const {
  if (ast_[id].kind != K::call || callee_name(ast_, id) != "sleep") return false;
  const NodeId time = ast_.child(id, Role::argument), test = ast_.ancestor(id, K::if_);
  const NodeId condition = test == kNoNode ? kNoNode : ast_.child(test, Role::condition);
  return time != kNoNode && condition != kNoNode && ast_.slice(time) == ast_.slice(condition);
}

/// next(batches) of batches = start_pipeline(data, prefetch=2)
bool PlaceGuards::takes_prefetched(NodeId call) const {
  if (ast_[call].kind != K::call) return false;
  // loss = model(x); x = get_batch(); loss.backward(): while the device computes
  const NodeId statement = ast_[call].parent;
  const NodeId behind = ast_[statement].kind == K::assign ? ast_[statement].next : kNoNode;
  if (behind != kNoNode && contains_any(ast_.slice(behind), {".backward("}) &&
      !is_named_in(ast_.child(statement, Role::left), ast_.slice(behind)))
    return true;
  if (callee_name(ast_, call) != "next") return false;
  const NodeId from = ast_.child(call, Role::argument);
  if (from == kNoNode || ast_[from].kind != K::name) return false;
  const NodeId made =
      file_.inference.definition(file_.outline.function_of[call], ast_[from].text, call);
  return made != kNoNode && contains_any(ast_.slice(made), {"prefetch"});
}

/// model = DataParallel(model); model.load_state_dict(saved); self.net = model.module.net: wrapped
/// for the names in a checkpoint, and run nowhere.
bool PlaceGuards::is_unwrapped(NodeId call) const {
  if (ast_[call].kind != K::call || callee_name(ast_, call) != kScatters) return false;
  const NodeId made = ast_[call].parent;
  const NodeId left = ast_[made].kind == K::assign ? ast_.child(made, Role::left) : kNoNode;
  const uint32_t function = file_.outline.function_of[call];
  if (left == kNoNode || ast_[left].kind != K::name || function == 0) return false;
  bool taken_off = false;
  for (NodeId at = ast_[made].end; at < ast_[file_.outline.functions[function]].end; ++at) {
    if (ast_[at].kind != K::name || ast_[at].text != ast_[left].text) continue;
    const std::string_view taken = ast_[ast_[at].parent].text;
    if (ast_[at].role != Role::object || taken == "forward")
      return false;  // called, returned, handed on
    taken_off |= taken == "module";
  }
  return taken_off;
}

/// C++: a function that makes events for itself whatever it is told, has no loop, and tells the
/// time: a trial of one launch. An operator may do so and never look at the time.
bool PlaceGuards::is_timed_once(NodeId id) const {
  const uint32_t function = file_.outline.function_of[id];
  if (ast_.grammar != Grammar::cuda || function == 0 || file_.outline.loop_of[id] != kNone ||
      (facts_.functions[function].flags & kMainFunction) != 0)
    return false;
  const NodeId whole = file_.outline.functions[function];
  if (ast_.slice(whole).find("EventElapsedTime") == std::string_view::npos) return false;
  bool made = false;
  NodeId time = kNoNode;
  for (NodeId at = whole; at < ast_[whole].end; ++at) {
    const Node& node = ast_[at];
    if (time != kNoNode && at >= ast_[time].end && node.kind == K::name &&
        ast_.slice(time).ends_with(node.text))
      return made;
    if (node.kind != K::call) continue;
    const std::string_view callee = callee_name(ast_, at);
    if (!made && is_one_of(callee, {"cudaEventCreate", "hipEventCreate"})) {
      const NodeId test = ast_.ancestor(at, K::if_);
      made = test == kNoNode || test < whole;
    }
    if (is_one_of(callee, {"cudaEventElapsedTime", "hipEventElapsedTime"}))
      time = ast_.child(at, Role::argument);
  }
  return false;
}

/// C++: for (auto& s : streams) { cudaStreamSynchronize(s); cudaStreamDestroy(s); } at the end.
bool PlaceGuards::is_cleaning_up(NodeId id) const {
  constexpr size_t kLongest = 400;  ///< a loop that does no more than that
  const uint32_t loop = file_.outline.loop_of[id];
  if (ast_.grammar != Grammar::cuda || loop == kNone || ast_[id].kind != K::call ||
      facts_.loops[loop].parent != kNone || !callee_name(ast_, id).ends_with("Synchronize"))
    return false;
  const std::string_view text = ast_.slice(file_.outline.loops[loop]);
  return text.size() < kLongest && text.find("StreamDestroy(") != std::string_view::npos &&
         text.find("StreamCreate") == std::string_view::npos;
}

/// batch["rgb"].to(device) behind `for key in batch: batch[key] = batch[key].to(device)`: moves
/// nothing.
bool PlaceGuards::is_moved_already(NodeId call) const {
  if (ast_.grammar != Grammar::python || ast_[call].kind != K::call ||
      !is_one_of(callee_name(ast_, call), {"to", "cuda"}))
    return false;
  const NodeId part = ast_.child(ast_.child(call, Role::callee), Role::object);
  const NodeId key = part == kNoNode ? kNoNode : ast_.child(part, Role::index);
  const NodeId mapping = key == kNoNode ? kNoNode : ast_.child(part, Role::object);
  if (mapping == kNoNode || ast_[key].kind != K::string || ast_[mapping].kind != K::name)
    return false;
  const std::string name(ast_[mapping].text);
  for (NodeId at = file_.outline.functions[file_.outline.function_of[call]]; at < call; ++at) {
    if (ast_[at].kind != K::for_ || ast_[at].end > call) continue;
    const NodeId each = ast_.child(at, Role::left), over = ast_.child(at, Role::right);
    if (each == kNoNode || over == kNoNode ||
        (ast_.slice(over) != name && ast_.slice(over) != name + ".keys()"))
      continue;
    const std::string element = name + "[" + std::string(ast_.slice(each)) + "]";
    const std::string_view body = ast_.slice(at);
    if (body.find(element + " = " + element + ".to(") != std::string_view::npos ||
        body.find(element + " = " + element + ".cuda(") != std::string_view::npos)
      return true;
  }
  return false;
}

/// while True: order = permutation(n); for i in order: yield data[i]. What a generator does in a
/// loop around the one that yields it does once for many batches.
bool PlaceGuards::is_around_yields(NodeId id) const {
  const uint32_t loop = file_.outline.loop_of[id];
  if (loop == kNone || (facts_.functions[file_.outline.function_of[id]].flags & kGenerator) == 0)
    return false;
  bool within = false;
  const NodeId around = file_.outline.loops[loop];
  // for images in loader: ... for one in scores: yield one
  const NodeId over = ast_[around].kind == K::for_ ? ast_.child(around, Role::right) : kNoNode;
  if (over != kNoNode &&
      (ast_[over].kind != K::call || !is_one_of(callee_name(ast_, over), {"range", "count"})))
    return false;
  for (NodeId at = around; at < ast_[around].end; ++at) {
    if (ast_[at].kind != K::yield) continue;
    if (file_.outline.loop_of[at] == loop) return false;
    within = true;
  }
  return within;
}

uint32_t PlaceGuards::of(NodeId id) const {
  uint32_t guards = 0;
  const FunctionFacts& function = facts_.functions[file_.outline.function_of[id]];
  if ((function.flags & kCachedFunction) != 0) guards |= kGuardCached;
  // self.get_window(): made once, by a function under lru_cache.
  const uint32_t called = ast_[id].kind == K::call
                              ? file_.inference.local_function(ast_.child(id, Role::callee))
                              : kNone;
  if (called != kNone && (facts_.functions[called].flags & kCachedFunction) != 0)
    guards |= kGuardCached;
  if (is_acting_name(function.name) || plays(file_.outline.function_of[id]) || is_for_simulator(id))
    guards |= kGuardEnvironment;
  // merge_cpu() runs on the host, detach_to_cpu() copies there, offload_states() too
  const bool for_host = function.name.ends_with("_cpu") && !function.name.ends_with("to_cpu");
  if (for_host || function.name.ends_with("Cpu") || function.name.ends_with("CPU") ||
      starts_with_any(function.name, {"offload", "_offload"}) ||
      function.name.ends_with("_offload") || function.name.ends_with("_offloaded"))
    guards |= kGuardCpuBranch;
  // C++: allocators and buffers that grow are for those who call them each time.
  if (ast_.grammar == Grammar::cuda && is_allocator_name(function.name) && !allocates_anew(id))
    guards |= kGuardCached;
  // A forward pass in training is given its actions, and so is what updates a policy.
  const bool learns = (function.flags & kForward) != 0 || function.name == "evaluate_actions" ||
                      has_word(lower(function.name), {"update", "loss", "losses", "optimize"});
  if ((is_environment_value(id) && !learns && !learns_from_memory(id) &&
       !samples_memory(function)) ||
      contains_any(function.class_name, {"envrunner", "vectorenv", "vecenv"}))
    guards |= kGuardEnvironment;
  if (reads_step_counter(id)) guards |= kGuardHostValue;
  if (reads_reward(id) && !learns && !learns_from_memory(id)) guards |= kGuardHostValue;
  for (NodeId at = ast_[id].parent; at != kNoNode; at = ast_[at].parent) {
    const Node& node = ast_[at];
    if (node.kind == K::call) {
      std::string_view name = callee_name(ast_, at);
      if (name == "register_buffer" || name == "Parameter" || name == "register_parameter")
        guards |= kGuardCached;
      if (at != id && name.ends_with("_cpu")) guards |= kGuardCpuBranch;
      if (at != id && (wants_host_values(name) || is_host_library(at) ||
                       (is_score(name) && !is_beside_backward(id))))
        guards |= kGuardCheckpoint;
    }
    if (node.kind == K::assign && ast_.child(at, Role::left) != kNoNode) {
      NodeId left = ast_.child(at, Role::left);
      if (ast_[left].kind == K::subscript && contains_any(ast_.slice(left), {"cache"}))
        guards |= kGuardCached;
      // self.table = self.table.to(x.device) moves it once, unless a batch moves itself.
      if (ast_[left].kind == K::attribute && ast_[id].kind == K::call &&
          ast_[at].kind == K::assign && !moves_own_batch(function.class_name, function.name) &&
          (moved_from(id) == ast_.slice(left) || iterated_around(id) == ast_.slice(left)))
        guards |= kGuardCached;
    }
    if (node.kind == K::block || node.kind == K::module) break;
  }
  if (ast_[id].kind == K::call && is_written_out(id)) guards |= kGuardCheckpoint;
  if (waits_as_told(id)) guards |= kGuardDebug;
  if (is_timed_once(id)) guards |= kGuardTest;
  if (is_cleaning_up(id)) guards |= kGuardOutsideStep;
  if (takes_prefetched(id)) guards |= kGuardPrefetched;
  if (ast_[id].kind == K::call && callee_name(ast_, id) == "next" && file_.names.uses_jax() &&
      !file_.names.uses("torch"))
    guards |= kGuardAsynchronous;
  if (is_unwrapped(id)) guards |= kGuardCheckpoint;
  if (was_read_before(file_, id)) guards |= kGuardCached;
  if (is_moved_already(id) || is_around_yields(id)) guards |= kGuardOutsideStep;
  return guards;
}

}  // namespace stallscope
