// cudaProfilerStart and cudaProfilerStop, by which a program says what is worth recording.
#pragma once

#include "collect/cupti_library.h"

namespace stallscope::collect {

enum class ProfilerCall : uint8_t {
  none,
  starts,  ///< the call that starts it is over
  stops,   ///< the call that stops it begins
  other,   ///< the other side of such a call
};

/// Has CUPTI call back at the calls that bound the recording. False when it refuses.
bool watch_profiler_calls(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber);

/// What an API callback says of the window.
ProfilerCall profiler_call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                           CUpti_ApiCallbackSite site);

}  // namespace stallscope::collect
