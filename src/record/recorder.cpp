#include "record/recorder.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/terminal.h"
#include "collect/settings.h"
#include "record/annotations.h"
#include "record/clock.h"
#include "record/environment.h"
#include "record/gather.h"
#include "record/gpu_cost.h"
#include "record/installed_packages.h"
#include "record/launcher.h"
#include "record/line_evidence.h"
#include "record/machine.h"
#include "record/node_sampler.h"
#include "record/own_profiles.h"
#include "record/process_ranks.h"
#include "record/python_sampler.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  struct tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return std::string(text, length);
}

Status write_manifest(const Recording& recording) {
  return write_file(recording.folder.trace + "/" + std::string(kManifestFile),
                    manifest_to_json(recording.manifest));
}

/// The options that leave a part of the run out, as the user writes them; empty = none.
std::string bounds_of(const RecordOptions& options) {
  std::string out;
  const auto add = [&](const std::string& option) { out += (out.empty() ? "" : " ") + option; };
  const auto seconds = [](uint64_t ms) {
    return format_duration(static_cast<double>(ms) * 1'000'000);
  };
  if (options.delay_ms > 0) add("--delay " + seconds(options.delay_ms));
  if (options.duration_ms > 0) add("--duration " + seconds(options.duration_ms));
  if (options.steps > 0) add("--steps " + std::to_string(options.steps));
  if (!options.capture_range.empty()) add("--capture range:" + options.capture_range);
  if (options.capture_profiler) add("--capture cuda-profiler");
  return out;
}

RecordingBounds sampling_bounds(const RecordOptions& options) {
  return {.delay = static_cast<Ns>(options.delay_ms) * kMillisecond,
          .duration = static_cast<Ns>(options.duration_ms) * kMillisecond,
          .by_program =
              options.steps > 0 || !options.capture_range.empty() || options.capture_profiler};
}

RunManifest begin_manifest(const RecordOptions& options, const RunFolder& folder,
                           const RankIdentity& identity) {
  RunManifest manifest;
  manifest.id = folder.run_id;
  manifest.command = options.command;
  std::error_code error;
  manifest.working_directory = fs::current_path(error).string();
  manifest.started_at = utc_now();
  manifest.identity = identity;
  manifest.environment = machine_facts(options.command);
  manifest.environment["gpu.level"] = options.gpu + "; " + gpu_cost(options.gpu);
  if (options.capture_profiler) manifest.environment[kCaptureFact] = "cuda-profiler";
  if (std::string bounds = bounds_of(options); !bounds.empty())
    manifest.environment[kBoundsFact] = std::move(bounds);
  return manifest;
}

/// A status line for --live: what has been recorded so far.
ChildTick live_tick(const RecordOptions& options, const std::string& recording_folder,
                    Progress& progress) {
  if (!options.live) return {};
  return {kSecond, [&recording_folder, &progress](pid_t, Ns since_start) {
            Bytes bytes = 0;
            size_t processes = 0;
            std::error_code error;
            for (const auto& entry : fs::directory_iterator(recording_folder, error)) {
              std::error_code ignored;
              const auto size = entry.file_size(ignored);
              if (ignored || entry.path().extension() != ".ssg") continue;
              bytes += size;
              ++processes;
            }
            progress.update("recording for " + format_duration(static_cast<double>(since_start)) +
                            ", " + std::to_string(processes) +
                            (processes == 1 ? " process, " : " processes, ") +
                            format_bytes(static_cast<double>(bytes)) + " of events");
          }};
}

void note_samples(const SamplerResult& result, RunManifest& manifest) {
  for (const std::string& note : result.notes) {
    print_message(note);
    manifest.warnings.push_back(note);
  }
  if (result.processes == 0) return;
  std::string versions;
  for (const std::string& version : result.versions)
    versions += (versions.empty() ? "" : ", ") + version;
  manifest.sample_rate_hz = result.lowest_rate_hz;
  manifest.environment["python"] = versions;
  if (std::string installed = installed_packages(result.files); !installed.empty())
    manifest.environment[kInstalledFact] = std::move(installed);
  manifest.environment["python.samples"] = std::to_string(result.samples);
  manifest.environment["python.native"] = result.native;
  manifest.environment["python.native_looks"] = std::to_string(result.native_looks);
  manifest.environment["python.sampler_cpu_ms"] =
      std::to_string(static_cast<int64_t>(result.cpu_seconds * 1000));
}

void note_node(const NodeSamplerResult& result, RunManifest& manifest) {
  if (!result.note.empty()) {
    print_message(result.note);
    manifest.warnings.push_back(result.note);
  }
  manifest.environment["node.gpus_watched"] = std::to_string(result.gpus);
  std::string names;  // each kind once
  for (const std::string& name : std::set(result.gpu_names.begin(), result.gpu_names.end()))
    if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) manifest.environment[kGpusFact] = std::move(names);
  manifest.environment["node.sampler_cpu_ms"] =
      std::to_string(static_cast<int64_t>(result.cpu_seconds * 1000));
}

void note_annotations(const Annotations& annotations, RunManifest& manifest) {
  if (annotations.processes == 0) return;
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  manifest.environment["annotate.marked"] = list(annotations.marked);
  manifest.environment["annotate.calls"] = std::to_string(annotations.announcements);
  manifest.environment["annotate.own_us"] = std::to_string(annotations.own_ns / 1000);
  if (!annotations.left_out.empty())
    manifest.environment["annotate.left_out"] = list(annotations.left_out);
  manifest.environment.insert(annotations.settings.begin(), annotations.settings.end());
}

void note_late_begin(Ns delay, Recording& recording) {
  if (delay == 0 || recording.end.duration > delay) return;
  std::string note = "nothing was recorded: the program ended after " +
                     format_duration(static_cast<double>(recording.end.duration)) +
                     ", before --delay " + format_duration(static_cast<double>(delay)) +
                     " was over";
  print_message("warning: " + note);
  recording.manifest.warnings.push_back(std::move(note));
}

void remove_all(const Recording& recording) {
  std::error_code error;
  fs::remove_all(recording.manifest.recording_folder, error);
  remove_run_folder(recording.folder);
}

void finish_manifest(Recording& recording, Gathered gathered) {
  RunManifest& manifest = recording.manifest;
  manifest.complete = true;
  manifest.duration = recording.end.duration;
  manifest.exit_code = recording.end.exit_code;
  manifest.signal = recording.end.signal;
  manifest.interrupted = recording.end.interrupted;
  if (gathered.warnings.empty()) manifest.recording_folder.clear();
  for (std::string& warning : gathered.warnings) {
    print_message("warning: " + warning);
    manifest.warnings.push_back(std::move(warning));
  }
  manifest.environment["recorded.bytes"] = std::to_string(gathered.bytes);
  manifest.environment["recorded.processes"] = std::to_string(gathered.processes);
}

// Scripts named without their interpreter are the common case.
Error not_startable(const std::string& program) {
  const fs::path path(program);
  std::error_code error;
  const bool is_file = fs::is_regular_file(path, error),
             named_by_path = program.find('/') != std::string::npos;
  Error out{.message = "cannot start '" + program + "': "};
  if (!is_file) {
    out.message += "no such program on PATH, or it is not executable";
    out.remedy = "check the name; everything after -- is the command to run";
  } else {
    out.message += named_by_path ? "it is not executable" : "it is a file here, no program on PATH";
    out.remedy = path.extension() == ".py"
                     ? "name what runs it: stallscope run -- python " + program
                 : named_by_path ? "name what runs it, or chmod +x " + program
                                 : "name its folder: ./" + program;
  }
  return out;
}

}  // namespace

Result<Recording> record(const RecordOptions& options,
                         const std::optional<PairedOverhead>& overhead) {
  // Before anything is made: a misspelt command leaves nothing behind.
  if (find_program(options.command[0]).empty()) return not_startable(options.command[0]);
  const RankIdentity identity = detect_rank();
  Recording recording;
  Result<RunFolder> folder = create_run_folder(options.folder, identity, options.force);
  if (!folder) return folder.error();
  recording.folder = std::move(*folder);
  for (const std::string& note : recording.folder.notes) print_message(note);
  recording.manifest = begin_manifest(options, recording.folder, identity);
  recording.manifest.overhead = overhead;

  Result<std::string> room = make_recording_folder(recording.folder.run_id);
  if (room) recording.manifest.recording_folder = *room;
  Result<TargetEnvironment> environment =
      room ? target_environment(options, *room, current_environment())
           : Result<TargetEnvironment>(room.error());
  Status written = environment ? write_manifest(recording) : Status(environment.error());
  if (!written) {
    remove_all(recording);
    return written.error();
  }
  for (const std::string& note : environment->notes) {
    print_message(note);
    recording.manifest.warnings.push_back(note);
  }

  const Ns started = clock_now(CLOCK_REALTIME);
  Progress progress;
  const char* native = std::getenv(settings::kNativeStacks);
  PythonSampler sampler({.folder = *room,
                         .rate_hz = options.sample_rate_hz,
                         .native = native == nullptr || std::string_view(native) != "0",
                         .bounds = sampling_bounds(options)});
  NodeSampler node({.folder = *room, .bounds = sampling_bounds(options)});
  Result<ChildEnd> end = run_child({options.command, environment->variables},
                                   live_tick(options, *room, progress), [&](pid_t child) {
                                     sampler.start(child);
                                     node.start(child);
                                   });
  progress.clear();
  note_samples(sampler.stop(), recording.manifest);
  note_node(node.stop(), recording.manifest);
  const Annotations annotations = take_annotations(*room);
  note_annotations(annotations, recording.manifest);
  for (std::string& note :
       take_own_profiles(annotations, recording.manifest.working_directory, started, *room)) {
    print_message(note);
    recording.manifest.warnings.push_back(std::move(note));
  }
  TakenLines lines = take_line_evidence(*room);
  recording.manifest.lines = std::move(lines.files);
  recording.manifest.silent_processes = lines.silent_processes;
  if (!end) {
    remove_all(recording);
    return end.error();
  }
  recording.end = *end;
  note_late_begin(sampling_bounds(options).delay, recording);
  finish_manifest(recording, gather(*room, recording.folder.trace, !recording.folder.one_of_many));
  // Where a launcher started many recorders, it numbered their ranks itself.
  if (!recording.folder.one_of_many)
    name_ranks((fs::path(recording.folder.trace) / kLocalFolder).string(), annotations.ranks);
  if (const Status saved = write_manifest(recording); !saved) print_error(saved.error());
  return recording;
}

}  // namespace stallscope
