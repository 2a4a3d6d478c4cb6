#include "analyze/places.h"

#include <algorithm>
#include <array>

#include "trace/run_manifest.h"

namespace stallscope {
namespace {

constexpr SiteId kUnknown = 0xffffffff;

// Parts of paths that only interpreters, frameworks and systems have.
constexpr std::string_view kLibraryParts[] = {
    "site-packages/",     "dist-packages/",  "/usr/lib",         "/usr/include",
    "/usr/local/include", "/usr/local/cuda", "/lib/python3",     "/lib/python2",
    "/include/c++/",      "<frozen",         "<string>",         "<built-in",
    "/annotate.h",        "/nvtx3/",         "sysdeps/",         "/torch/include/",
    "importlib/",         "/bits/",          "/torchinductor_",  "/csu/",
    "/.cache/",           "/.triton/",       "/torch_geometric."};
// What the recorder adds to the program: a hook that it sets may be the innermost frame.
constexpr std::string_view kRecordersPython = "/stallscope/python/";
// What calls the recorder back from within CUDA's calls.
constexpr std::string_view kCupti = "libcupti.so";
// Where PyTorch hands a backward pass to its engine.
constexpr std::string_view kAutograd[] = {"torch/autograd/__init__.py", "torch/autograd/graph.py"};
// What the recorder names its ranges.
constexpr std::string_view kBackward = "backward";
// Beginnings of the short paths that profilers write for installed packages.
constexpr std::string_view kLibraryRoots[] = {
    "torch/",           "jax/",        "jaxlib/",      "numpy/",
    "lightning/",       "accelerate/", "deepspeed/",   "transformers/",
    "annotate.h",       "triton/",     "torchvision/", "torchaudio/",
    "torchrec/",        "fbgemm_gpu/", "functorch/",   "flax/",
    "optax/",           "tensorflow/", "keras/",       "pytorch_lightning/",
    "multiprocessing/", "concurrent/", "asyncio/",     "<"};
// Files of the standard library as profilers shorten them.
constexpr std::string_view kStandardFiles[] = {"threading.py", "runpy.py",  "contextlib.py",
                                               "queue.py",     "socket.py", "selectors.py",
                                               "functools.py", "abc.py",    "weakref.py"};
// What the path of an installed package's file goes on from.
constexpr std::string_view kPackages = "-packages/";
// Their lines say nothing that the operators do not say.
constexpr std::string_view kFrameworks[] = {"torch", "jax", "jaxlib", "triton", "numpy"};
constexpr std::string_view kLibraryModules[] = {
    "libc.so",  "libc-",    "libpthread", "ld-linux",    "libstdc++",  "libpython",
    "python3",  "libtorch", "libc10",     "libcuda",     "libcudart",  "libnccl",
    "libcupti", "libmpi",   "libmpich",   "libnvrtc",    "libcublas",  "libcudnn",
    "libm.so",  "libgcc",   "libgomp",    "libopen-pal", "linux-vdso", "libstallscope"};

std::string_view language_of(const Frame& frame, std::string_view file) {
  if (frame.kind == FrameKind::python || file.ends_with(".py")) return "python";
  return frame.kind == FrameKind::native ? "cpp" : "";
}

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Interpreters, frameworks and systems, with or without their source lines.
bool is_library_module(std::string_view module) {
  if (module.find("/lib-dynload/") != std::string_view::npos || is_library_file(module))
    return true;
  return std::ranges::any_of(kLibraryModules, [name = base_name(module)](std::string_view library) {
    return name.starts_with(library);
  });
}

bool is_autograd(std::string_view file) {
  return std::ranges::any_of(
      kAutograd, [file](std::string_view part) { return file.find(part) != file.npos; });
}

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
}

}  // namespace

std::string line_text(const Place& place) {
  return place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
}

std::string library_line(const std::vector<Place>& stack, const Place& place) {
  for (const Place& frame : stack) {
    if (frame == place) break;
    const size_t packages = frame.file.rfind(kPackages);
    if (frame.line == 0 || packages == std::string::npos) continue;
    const std::string_view path = std::string_view(frame.file).substr(packages + kPackages.size());
    const std::string_view package = path.substr(0, path.find('/'));
    if (std::ranges::find(kFrameworks, package) != std::end(kFrameworks)) continue;
    return std::string(path) + ":" + std::to_string(frame.line) + " (" + frame.function + ")";
  }
  return {};
}

bool is_library_file(std::string_view file) {
  for (std::string_view part : kLibraryParts)
    if (file.find(part) != std::string_view::npos) return true;
  for (std::string_view root : kLibraryRoots)
    if (file.starts_with(root)) return true;
  return std::ranges::find(kStandardFiles, file) != std::end(kStandardFiles);
}

bool is_standard_library(std::string_view file) {
  if (file.find(kPackages) != std::string_view::npos) return false;
  return file.find("/lib/python3") != std::string_view::npos || file.starts_with("<frozen") ||
         std::ranges::find(kStandardFiles, file) != std::end(kStandardFiles);
}

SiteTable::SiteTable(const ProcessIndex& index, const AnalyzeOptions& options)
    : index_(index), options_(options), by_stack_(index.trace->stack_count(), kUnknown) {
  sites_.push_back(std::make_unique<Site>());
  const Trace& trace = *index.trace;
  for (const HostThread& thread : index.threads)
    for (EventId id = thread.first; id < thread.last; ++id)
      if (trace.kinds()[id] == EventKind::range && trace.stacks()[id] != 0 &&
          trace.name(id) == kBackward)
        backward_.push_back(id);
  std::ranges::sort(backward_, {}, [&trace](EventId range) { return trace.starts()[range]; });
  const auto installed = index.trace->environment.find(kInstalledFact);
  if (installed == index.trace->environment.end()) return;
  for (std::string_view rest = installed->second; !rest.empty();) {
    const std::string_view path = rest.substr(0, rest.find(':'));
    if (!path.empty()) installed_.emplace_back(path);
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
  }
}

bool SiteTable::is_user(const Place& place, std::string_view module) const {
  if (place.file.find(kRecordersPython) != std::string::npos) return false;
  if (place.file.empty()) {
    // A Python function without a file is built into the interpreter or a C++ extension.
    if (place.function.empty() || place.language == "python" || module.empty()) return false;
    return !is_library_module(module);
  }
  for (const std::string& root : options_.user_roots)
    if (place.file.starts_with(root)) return true;
  if (!options_.user_roots.empty() && place.file.starts_with('/')) return false;
  const auto holds = [&place](const std::string& path) { return place.file.starts_with(path); };
  if (std::ranges::any_of(installed_, holds)) return false;
  return !is_library_file(place.file) && !is_library_module(module);
}

SiteId SiteTable::intern(Site site) {
  const std::string key = site.place.file + '\n' + std::to_string(site.place.line) + '\n' +
                          site.place.function + '\n' + site.operators +
                          (site.by_autograd ? "\nby autograd" : "");
  const auto [it, added] = ids_.emplace(key, static_cast<SiteId>(sites_.size()));
  if (added) sites_.push_back(std::make_unique<Site>(std::move(site)));
  return it->second;
}

Site SiteTable::read_stack(StackId stack) const {
  const Trace& trace = *index_.trace;
  Site site;
  for (FrameId id : trace.stack(stack)) {
    const Frame& frame = trace.frame(id);
    if (frame.kind == FrameKind::op) {
      const std::string name(trace.text(frame.function));
      if (site.op.empty()) site.op = name;
      site.operators += (site.operators.empty() ? "" : " < ") + name;
      continue;
    }
    const std::string_view module = trace.text(frame.module);
    if (module.find(kCupti) != module.npos) continue;
    Place place;
    place.file = trace.text(frame.file);
    place.function = trace.text(frame.function);
    place.line = frame.line;
    place.language = language_of(frame, place.file);
    // A line of the user's own further out says more than a function without one: code that
    // comes without line numbers is rarely theirs.
    const bool better = !site.place.known() || (site.place.file.empty() && !place.file.empty());
    if (better && is_user(place, module))
      site.place = place;
    else if (better && is_autograd(place.file))
      site.by_autograd = true;
    site.stack.push_back(std::move(place));
  }
  return site;
}

SiteId SiteTable::of_stack(StackId stack) {
  if (stack == 0) return 0;
  if (by_stack_[stack] == kUnknown) by_stack_[stack] = intern(read_stack(stack));
  return by_stack_[stack];
}

std::vector<Place> SiteTable::stack_at(SiteId id, StackId stack) const {
  const Site& at = site(id);
  if (stack == 0 || !at.place.known()) return at.stack;
  Site own = read_stack(stack);
  return own.place == at.place ? std::move(own.stack) : at.stack;
}

// Without a stack of its own, an event's call path is what its thread's ranges say.
SiteId SiteTable::of_ranges(EventId event) {
  const Trace& trace = *index_.trace;
  const HostThread* thread = index_.thread_of(event);
  if (thread == nullptr) return 0;
  const auto own = [&](EventId range) {
    return static_cast<RangeKind>(trace.details()[range]) != RangeKind::annotation ||
           trace.stacks()[range] != 0;
  };
  const EventId first = trace.kinds()[event] == EventKind::range ? event : thread->parent(event);
  uint64_t hash = 0;
  for (EventId range = first; range != kNoEvent; range = thread->parent(range))
    if (own(range)) hash = mix(mix(hash, trace.names()[range]), trace.stacks()[range]);
  if (hash == 0) return 0;
  const auto known = by_ranges_.find(hash);
  if (known != by_ranges_.end()) return known->second;
  Site site;
  for (EventId range = first; range != kNoEvent; range = thread->parent(range)) {
    const auto kind = static_cast<RangeKind>(trace.details()[range]);
    if (kind == RangeKind::op) {
      const std::string name(trace.name(range));
      if (site.op.empty()) site.op = name;
      site.operators += (site.operators.empty() ? "" : " < ") + name;
    } else if (kind == RangeKind::python) {
      const NamedFrame frame = named_frame(trace.name(range));
      if (frame.file.empty()) continue;
      Place place{std::string(frame.file), frame.line, 0, std::string(frame.function), "python"};
      if (!site.place.known() && is_user(place, {})) site.place = place;
      site.stack.push_back(std::move(place));
    }
    // The stack of an enclosing range ends the search: it holds all that lies outside.
    if (trace.stacks()[range] != 0) {
      const Site& outer = this->site(of_stack(trace.stacks()[range]));
      if (!site.place.known()) site.place = outer.place;
      site.stack.insert(site.stack.end(), outer.stack.begin(), outer.stack.end());
      if (site.op.empty()) {
        site.op = outer.op;
        site.operators = outer.operators;
      }
      break;
    }
  }
  return by_ranges_[hash] = intern(std::move(site));
}

// The engine runs the backward pass of a GPU's tensors on a thread of its own: what it does there
// belongs to the line that waits for it on another.
SiteId SiteTable::of_backward(EventId event, SiteId own) {
  const Trace& trace = *index_.trace;
  const Ns start = trace.starts()[event];
  const auto after = std::ranges::upper_bound(
      backward_, start, {}, [&trace](EventId range) { return trace.starts()[range]; });
  if (after == backward_.begin()) return own;
  const EventId around = *(after - 1);
  if (trace.end(around) <= start || index_.thread_of(around) == index_.thread_of(event)) return own;
  const Site& asked = site(of_stack(trace.stacks()[around]));
  if (!asked.place.known()) return own;
  Site both = site(own);
  both.place = asked.place;
  both.by_autograd = true;
  both.stack.insert(both.stack.end(), asked.stack.begin(), asked.stack.end());
  return intern(std::move(both));
}

SiteId SiteTable::of(EventId event) {
  if (event == kNoEvent) return 0;
  const StackId stack = index_.trace->stacks()[event];
  const SiteId own = stack == 0 ? of_ranges(event) : of_stack(stack);
  if (!site(own).place.known()) return of_backward(event, own);
  if (stack == 0 || !site(own).op.empty()) return own;
  // A stack without operators takes those of the ranges around it.
  const SiteId around = of_ranges(event);
  if (around == 0 || site(around).op.empty()) return own;
  Site both = site(own);
  both.op = site(around).op;
  both.operators = site(around).operators;
  return intern(std::move(both));
}

SiteId SiteTable::of_work(EventId work, EventId launch) {
  const StackId captured = index_.trace->stacks()[work];
  return captured != 0 ? of_stack(captured) : of(launch);
}

}  // namespace stallscope
