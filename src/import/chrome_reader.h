// Reads a Chrome trace, object or bare array, event by event in bounded memory.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "import/byte_stream.h"
#include "import/json_repair.h"
#include "import/kineto_event.h"

namespace stallscope {

struct ChromeHandlers {
  /// A member of the outer object other than traceEvents, as JSON text (strings with their quotes).
  std::function<void(std::string_view key, std::string_view json)> member;
  /// False stops the reading (a limit was reached).
  std::function<bool(const RawEvent& event)> event;
  /// Called about once per megabyte.
  std::function<void()> progress;
};

struct ChromeResult {
  Repairs repairs;
  bool cut_short = false;  ///< the file ended before its proper end
};

/// Errors: the stream fails, or what it holds is no JSON at all.
Result<ChromeResult> read_chrome_trace(BlockStream& stream, const ChromeHandlers& handlers);

}  // namespace stallscope
