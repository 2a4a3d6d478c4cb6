#include "record/python_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "record/process_tree.h"
#include "record/sampled_process.h"
#include "record/side_thread.h"

namespace stallscope {
namespace {

/// While sampling costs more than its budget, asks for native functions at fewer samples, then
/// lengthens the period; and takes both back when there is room.
class Budget {
 public:
  Budget(uint32_t rate_hz, double share)
      : shortest_(kSecond / rate_hz), period_(shortest_), share_(share) {}
  Ns period() const { return period_; }
  Ns longest_period() const { return longest_seen_; }
  /// True at the ticks that ask for native functions too.
  bool asks_native() { return ++tick_ % native_every_ == 0; }

  /// Begins a new window: what came before (finding an interpreter) happens once.
  void start(Ns now, Ns cpu) {
    const Ns elapsed = window_start_ > 0 ? now - window_start_ : 0;
    overdrawn_ += static_cast<double>(cpu - window_cpu_) - share_ * static_cast<double>(elapsed);
    overdrawn_ = std::max(overdrawn_, 0.0);
    window_start_ = now;
    window_cpu_ = cpu;
    longest_seen_ = std::max(longest_seen_, period_);
  }

  void account(Ns now) {
    if (now - window_start_ < window_) return;
    const Ns cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);  // a system call: not at every tick
    const double used =
        static_cast<double>(cpu - window_cpu_) / static_cast<double>(now - window_start_);
    // What finding interpreters and the first windows took too much is saved afterwards.
    constexpr double kWhileOverdrawn = 0.7;
    const double share = overdrawn_ > 0 ? kWhileOverdrawn * share_ : share_;
    constexpr Ns kLongest = 200 * kMillisecond;
    // What either step adds to the cost is less than the room that is asked for.
    constexpr uint32_t kSeldom = 4;
    constexpr double kRoom = 0.7;
    if (used > share && native_every_ < kSeldom) {
      native_every_ = used > 2 * share ? kSeldom : native_every_ * 2;
    } else if (used > share) {
      period_ = std::min(kLongest, static_cast<Ns>(static_cast<double>(period_) *
                                                   std::min(used / share * 1.1, 4.0)));
    } else if (used < share * kRoom && period_ > shortest_) {
      period_ = std::max(shortest_, period_ * 3 / 4);
    } else if (used < share * kRoom && native_every_ > 1) {
      native_every_ /= 2;
    }
    longest_seen_ = std::max(longest_seen_, period_);
    window_ = std::min(2 * window_, kLongestWindow);
    start(now, cpu);
  }

 private:
  static constexpr Ns kLongestWindow = 500 * kMillisecond;
  Ns shortest_, period_, longest_seen_ = 0;
  double share_;
  uint32_t tick_ = 0, native_every_ = 1;
  Ns window_start_ = 0, window_cpu_ = 0;
  double overdrawn_ = 0;           ///< nanoseconds of CPU time beyond the share
  Ns window_ = 60 * kMillisecond;  // short at first: a short run has its budget too
};

}  // namespace

class PythonSampler::Loop {
 public:
  Loop(SamplerOptions options, pid_t root)
      : options_(std::move(options)),
        root_(root),
        budget_(options_.rate_hz, options_.budget),
        native_{.wanted = options_.native},
        recorded_(options_.folder, options_.bounds),
        thread_("Python is sampled no longer", [this](SideThread& thread) { run(thread); }) {}

  SamplerResult finish() {
    if (std::string note = thread_.stop(); !note.empty()) result_.notes.push_back(std::move(note));
    result_.processes = sampled_count_;
    result_.native = !options_.native  ? "off"
                     : native_.running ? "on"
                                       : "of sleeping threads only: " + native_.reason;
    result_.native_looks = native_.named;
    result_.lowest_rate_hz = budget_.longest_period() > 0
                                 ? static_cast<uint32_t>(kSecond / budget_.longest_period())
                                 : options_.rate_hz;
    return std::move(result_);
  }

 private:
  /// How often a process was looked at in vain: programs start Python late, through exec.
  struct Search {
    int tries = 0;
    Ns next = 0;
    bool given_up = false;
    int programs = 0;  ///< that were sampled under this number
  };

  void run(SideThread& thread) {
    Ns next_discovery = 0, discovery_pause = 5 * kMillisecond, next_flush = 0;
    while (thread.wait_until(next_tick_)) {
      const Ns now = clock_now(CLOCK_MONOTONIC);
      if (now >= next_discovery) {
        const size_t before = sampled_count_;
        discover(now);
        if (sampled_count_ != before) budget_.start(now, clock_now(CLOCK_THREAD_CPUTIME_ID));
        // Quick at first, when the program starts its processes; then seldom.
        discovery_pause = std::min<Ns>(discovery_pause * 3 / 2, 300 * kMillisecond);
        next_discovery = now + discovery_pause;
      }
      const bool ask_native = budget_.asks_native();
      recorded_.look(now);
      for (auto& [pid, process] : sampled_) {
        if (recorded_.holds(pid))
          result_.samples += process.sample(now, 3 * budget_.period(), ask_native);
        else
          process.rest();
      }
      if (now >= next_flush) {
        for (auto& [pid, process] : sampled_) process.flush();
        next_flush = now + kSecond;
      }
      budget_.account(now);
      next_tick_ = sampled_.empty() ? next_discovery : now + budget_.period();
    }
    for (auto& [pid, process] : sampled_) finish(process);
    result_.cpu_seconds = static_cast<double>(clock_now(CLOCK_THREAD_CPUTIME_ID)) / kSecond;
  }

  void finish(SampledProcess& process) {
    process.flush();
    result_.files.insert(process.files().begin(), process.files().end());
  }

  void discover(Ns now) {
    const std::vector<pid_t> tree = process_tree(root_);
    recorded_.find_segments(tree);
    for (auto it = sampled_.begin(); it != sampled_.end();) {
      const bool same =
          std::ranges::find(tree, it->first) != tree.end() && !it->second.is_replaced();
      if (!same) {
        finish(it->second);
        searches_[it->first] = {.programs = searches_[it->first].programs};
      }
      it = same ? std::next(it) : sampled_.erase(it);
    }
    for (const pid_t pid : tree) {
      if (const auto known = sampled_.find(pid); known != sampled_.end())
        known->second.refresh_threads();
      else
        look_at(pid, now);
    }
  }

  void look_at(pid_t pid, Ns now) {
    Search& search = searches_[pid];
    if (search.given_up || now < search.next) return;
    constexpr Ns kLongestPause = 2 * kSecond;
    search.next =
        now + std::min<Ns>(kLongestPause, (5 * kMillisecond) << std::min(++search.tries, 9));
    const PythonSearch found = find_python(pid);
    if (found.presence == PythonPresence::unreadable) {
      search.given_up = true;
      if (notes_.insert(found.reason).second)
        result_.notes.push_back("Python is not sampled: " + found.reason);
    }
    if (found.presence != PythonPresence::found) return;
    // Before its first thread is there, the interpreter is still being set up.
    if (PythonStacks(pid, found.runtime).threads().empty()) return;
    sampled_.try_emplace(pid, pid, found.runtime, file_of(pid, search.programs++), native_);
    ++sampled_count_;
    if (std::ranges::find(result_.versions, found.runtime.version) == result_.versions.end())
      result_.versions.push_back(found.runtime.version);
  }

  /// PID.samples, PID-1.samples of the program that followed by exec, and so on.
  std::string file_of(pid_t pid, int program) const {
    return options_.folder + "/" + std::to_string(pid) +
           (program > 0 ? "-" + std::to_string(program) : "") + std::string(kSampleSuffix);
  }

  SamplerOptions options_;
  pid_t root_;
  Budget budget_;
  NativePermission native_;
  RecordedTime recorded_;
  SamplerResult result_;
  std::map<pid_t, SampledProcess> sampled_;
  std::map<pid_t, Search> searches_;
  std::set<std::string> notes_;
  size_t sampled_count_ = 0;
  Ns next_tick_ = 0;
  SideThread thread_;  // last: it uses all of the above
};

PythonSampler::PythonSampler(SamplerOptions options) : options_(std::move(options)) {}

PythonSampler::~PythonSampler() {
  if (loop_) (void)loop_->finish();
}

void PythonSampler::start(pid_t root) {
  if (options_.rate_hz > 0 && !loop_) loop_ = std::make_unique<Loop>(options_, root);
}

SamplerResult PythonSampler::stop() {
  if (!loop_) return {};
  SamplerResult result = loop_->finish();
  loop_.reset();
  return result;
}

}  // namespace stallscope
