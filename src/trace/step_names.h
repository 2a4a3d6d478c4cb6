// The names that mark a training step. One list for the recorder, which counts
// steps as they begin, and the analysis, which cuts the run at them.
#pragma once

#include <stddef.h>

namespace stallscope {

/// Step markers, as the letters of a name alone in lower case: "## Train_Step 12" -> "trainstep".
inline constexpr const char* kStepMarkers[] = {
    "step",         "iteration",         "iter",      "trainstep",     "trainingstep",
    "profilerstep", "trainingiteration", "trainiter", "trainiteration"};
inline constexpr size_t kStepMarkerCount = sizeof kStepMarkers / sizeof *kStepMarkers;

/// The range around the step of a program's first optimizer: without a marker, steps are counted by
/// it.
inline constexpr char kOptimizerStep[] = "optimizer.step";

/// A marker is short; longer names that hold the word are something else.
inline constexpr size_t kMaxStepNameBytes = 48;

/// The index in kStepMarkers of the marker that `name` is; kStepMarkerCount when it is none.
constexpr size_t step_marker_index(const char* name, size_t bytes) {
  if (bytes > kMaxStepNameBytes) return kStepMarkerCount;
  for (size_t marker = 0; marker < kStepMarkerCount; ++marker) {
    const char* expected = kStepMarkers[marker];
    bool equal = true;
    for (size_t i = 0; i < bytes && equal; ++i) {
      const char lower = static_cast<char>(name[i] | 0x20);
      if (lower < 'a' || lower > 'z') continue;
      equal = *expected == lower;
      if (equal) ++expected;
    }
    if (equal && *expected == '\0') return marker;
  }
  return kStepMarkerCount;
}

/// True when `name` is `given` itself, with or without a number after it ("epoch_step 12").
constexpr bool is_given_step(const char* name, size_t bytes, const char* given,
                             size_t given_bytes) {
  if (bytes < given_bytes) return false;
  for (size_t i = 0; i < bytes; ++i) {
    if (i < given_bytes) {
      if (name[i] != given[i]) return false;
      continue;
    }
    bool separates = name[i] >= '0' && name[i] <= '9';
    for (const char* c = " #_-:="; *c != '\0'; ++c) separates = separates || name[i] == *c;
    if (!separates) return false;
  }
  return true;
}

}  // namespace stallscope
