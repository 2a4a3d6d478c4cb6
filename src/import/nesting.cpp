#include "import/nesting.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "import/kineto_names.h"

namespace stallscope {
namespace {

// Python's own default limit is 1000; the innermost frames are the telling ones.
constexpr size_t kMaxDepth = 256;

// Call paths as a tree: most events share theirs with many others, and a path
// becomes a stack only when an event refers to it.
class CallTree {
 public:
  explicit CallTree(Trace& trace) : trace_(trace), nodes_(1) {}

  uint32_t child(uint32_t parent, FrameId frame) {
    const uint64_t key = static_cast<uint64_t>(parent) << 32 | frame;
    const auto [it, added] = index_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (added) nodes_.push_back({parent, frame, 0});
    return it->second;
  }

  /// The node of `stack` (innermost first) below `parent`.
  uint32_t append(uint32_t parent, StackId stack) {
    const std::span<const FrameId> frames = trace_.stack(stack);
    path_.assign(frames.rbegin(), frames.rend());
    for (FrameId frame : path_) parent = child(parent, frame);
    return parent;
  }

  StackId stack(uint32_t node) {
    if (node == 0 || nodes_[node].stack != 0) return nodes_[node].stack;
    path_.clear();
    for (uint32_t at = node; at != 0 && path_.size() < kMaxDepth; at = nodes_[at].parent)
      path_.push_back(nodes_[at].frame);
    return nodes_[node].stack = trace_.add_stack(path_);
  }

  /// The nearest node above `node`, or itself, that is a Python call; 0 when there is none.
  uint32_t python_part(uint32_t node) const {
    while (node != 0 && trace_.frame(nodes_[node].frame).kind != FrameKind::python)
      node = nodes_[node].parent;
    return node;
  }

  FrameId frame_of_range(StringId name, bool python) {
    std::vector<FrameId>& known = python ? python_frames_ : op_frames_;
    if (name >= known.size()) known.resize(name + 1, 0);
    if (known[name] == 0) known[name] = 1 + trace_.add_frame(make_frame(name, python));
    return known[name] - 1;
  }

 private:
  struct Node {
    uint32_t parent = 0;
    FrameId frame = 0;
    StackId stack = 0;
  };

  Frame make_frame(StringId name, bool python) {
    if (!python) return {.function = name, .kind = FrameKind::op};
    const std::optional<PythonName> parts = parse_python_name(trace_.text(name));
    if (!parts) return {.function = name, .kind = FrameKind::python};
    return {.function = trace_.strings.intern(parts->function),
            .file = trace_.strings.intern(parts->file),
            .line = parts->line,
            .kind = FrameKind::python};
  }

  Trace& trace_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> index_;
  std::vector<FrameId> path_, python_frames_, op_frames_;
};

// Where the operators of autograd's forward pass were called: a backward operator has the
// sequence number of its forward one, which says more than the line that called backward().
class ForwardCalls {
 public:
  /// The operators that have number `sequence`: those on their way to the one that autograd
  /// keeps, which is the last. Numbers count per thread, so two threads may share some.
  void add(int64_t sequence, TrackId track, uint32_t node) {
    Call& call = calls_.try_emplace(sequence, Call{track, node, true}).first->second;
    call.node = node;
    call.clear = call.clear && call.track == track;
  }

  /// 0 when it is not known.
  uint32_t node(int64_t sequence) const {
    const auto found = calls_.find(sequence);
    return found != calls_.end() && found->second.clear ? found->second.node : 0;
  }

 private:
  struct Call {
    TrackId track;
    uint32_t node;
    bool clear;
  };
  std::unordered_map<int64_t, Call> calls_;
};

// A time in which some Python thread was inside backward().
struct BackwardCall {
  Ns start, end;
  uint32_t node;
};

class Nester {
 public:
  explicit Nester(Trace& trace) : trace_(trace), tree_(trace) {}

  void run() {
    std::vector<TrackId> without_python;
    for (TrackId track = 0; track < trace_.tracks.size(); ++track) {
      if (trace_.tracks[track].kind != TrackKind::thread) continue;
      if (has_python(track)) {
        walk(track, true);
      } else {
        without_python.push_back(track);
      }
    }
    std::ranges::sort(backward_, {}, &BackwardCall::start);
    // Forward operators first, so that backward ones find them.
    std::ranges::stable_partition(without_python,
                                  [this](TrackId track) { return !has_backward_op(track); });
    for (TrackId track : without_python) walk(track, false);
    inherit_payloads();
  }

 private:
  struct Open {
    Ns start, end;
    uint32_t node;
    FrameId frame;
    PayloadId collective;  // of the nearest operator that describes one
  };

  bool is_range(EventId id, RangeKind kind) const {
    return trace_.kinds()[id] == EventKind::range &&
           trace_.details()[id] == static_cast<uint8_t>(kind);
  }

  bool has_python(TrackId track) const {
    const auto [first, last] = trace_.rows(track);
    for (EventId id = first; id < last; ++id)
      if (is_range(id, RangeKind::python)) return true;
    return false;
  }

  bool has_backward_op(TrackId track) const {
    const auto [first, last] = trace_.rows(track);
    for (EventId id = first; id < last; ++id)
      if (is_range(id, RangeKind::op) && trace_.field(id, kKeyForwardThread) != nullptr)
        return true;
    return false;
  }

  // torch/autograd/__init__.py: backward, torch/_tensor.py: backward and what they call.
  bool is_backward(FrameId frame) {
    if (frame >= backward_frames_.size()) backward_frames_.resize(frame + 1, kUnknown);
    if (backward_frames_[frame] == kUnknown) {
      const Frame& python = trace_.frame(frame);
      const std::string_view function = trace_.text(python.function);
      backward_frames_[frame] =
          (function == "backward" || function == "grad" || function == "_engine_run_backward") &&
                  trace_.text(python.file).find("torch/") != std::string_view::npos
              ? kYes
              : kNo;
    }
    return backward_frames_[frame] == kYes;
  }

  uint32_t backward_at(Ns time) const {
    auto after = std::ranges::upper_bound(backward_, time, {}, &BackwardCall::start);
    // The innermost call that is still open; a few steps back at most.
    for (int i = 0; i < 8 && after != backward_.begin(); ++i) {
      --after;
      if (after->end > time) return after->node;
    }
    return 0;
  }

  // Notes a forward operator called at `node`. For a backward one: its engine's frames, but
  // below the Python calls of its forward operator.
  uint32_t join_forward(EventId id, TrackId track, uint32_t node) {
    const Field* sequence = trace_.field(id, kKeySequenceNr);
    if (sequence == nullptr) return node;
    if (trace_.field(id, kKeyForwardThread) == nullptr) {
      if (const uint32_t call = tree_.python_part(node))
        forward_.add(sequence->integer, track, call);
      return node;
    }
    uint32_t joined = forward_.node(sequence->integer);
    if (joined == 0) return node;
    for (const Open& open : open_)
      if (open.frame != kNoFrame && trace_.frame(open.frame).kind == FrameKind::op)
        joined = tree_.child(joined, open.frame);
    return joined;
  }

  // The same interval again: a trace that holds its events twice must not nest
  // each in its own copy.
  bool is_repeated(Ns start, Ns end, FrameId frame) const {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      if (open->start != start || open->end != end) return false;
      if (open->frame == frame) return true;
    }
    return false;
  }

  void walk(TrackId track, bool python_thread) {
    open_.clear();
    const auto [first, last] = trace_.rows(track);
    for (EventId id = first; id < last; ++id) {
      const Ns start = trace_.starts()[id], end = trace_.end(id);
      while (!open_.empty() && open_.back().end <= start && open_.back().end < end)
        open_.pop_back();
      uint32_t node = open_.empty() ? 0 : open_.back().node;
      PayloadId collective = open_.empty() ? 0 : open_.back().collective;
      if (open_.empty() && !python_thread && !backward_.empty()) node = backward_at(start);

      const bool python = is_range(id, RangeKind::python);
      if (python || is_range(id, RangeKind::op)) {
        // Older profilers write an operator's Python stack instead of ranges.
        if (!python && trace_.stacks()[id] != 0) node = tree_.append(0, trace_.stacks()[id]);
        const FrameId frame = tree_.frame_of_range(trace_.names()[id], python);
        if (!python) node = join_forward(id, track, node);
        if (!is_repeated(start, end, frame)) {
          node = tree_.child(node, frame);
          if (python && is_backward(frame)) backward_.push_back({start, end, node});
          if (!python && trace_.field(id, kKeyCollective) != nullptr)
            collective = trace_.payloads()[id];
          open_.push_back({start, end, node, frame, collective});
        }
      } else if (trace_.kinds()[id] == EventKind::range) {
        if (trace_.field(id, kKeyCollective) != nullptr)
          open_.push_back({start, end, node, kNoFrame, trace_.payloads()[id]});
      } else if (trace_.kinds()[id] == EventKind::api && collective != 0 &&
                 trace_.correlations()[id] != 0) {
        launched_in_[key_of(track, trace_.correlations()[id])] = collective;
      }
      // A call's own call chain lies inside the ranges around it.
      if (trace_.kinds()[id] != EventKind::range && trace_.stacks()[id] != 0 && node != 0)
        node = tree_.append(node, trace_.stacks()[id]);
      if (node != 0) trace_.set_stack(id, tree_.stack(node));
    }
  }

  uint64_t key_of(TrackId track, uint32_t correlation) const {
    return static_cast<uint64_t>(trace_.tracks[track].process) << 32 | correlation;
  }

  void inherit_payloads() {
    if (launched_in_.empty()) return;
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (trace_.kinds()[id] != EventKind::kernel || trace_.correlations()[id] == 0) continue;
      if (trace_.field(id, kKeyCollective) != nullptr) continue;
      const auto found =
          launched_in_.find(key_of(trace_.tracks_of_events()[id], trace_.correlations()[id]));
      if (found == launched_in_.end() || !is_collective_kernel(trace_.name(id))) continue;
      const std::span<const Field> own = trace_.payload(trace_.payloads()[id]);
      std::vector<Field> fields(own.begin(), own.end());
      for (const Field& field : trace_.payload(found->second))
        if (std::ranges::find(fields, field.key, &Field::key) == fields.end())
          fields.push_back(field);
      trace_.set_payload(id, trace_.add_payload(fields));
    }
  }

  static constexpr FrameId kNoFrame = UINT32_MAX;  // of a range that is no frame
  static constexpr int8_t kUnknown = -1, kNo = 0, kYes = 1;

  Trace& trace_;
  CallTree tree_;
  ForwardCalls forward_;
  std::vector<Open> open_;
  std::vector<BackwardCall> backward_;
  std::vector<int8_t> backward_frames_;
  std::unordered_map<uint64_t, PayloadId> launched_in_;
};

}  // namespace

void add_nesting_stacks(Trace& trace) {
  Nester(trace).run();
}

}  // namespace stallscope
