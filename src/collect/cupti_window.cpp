#include "collect/cupti_window.h"

namespace stallscope::collect {
namespace {

struct WindowCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId cbid;
  bool starts;
};

// The runtime's calls lead to the driver's: whichever comes first counts.
constexpr WindowCall kCalls[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, true},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, false},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, true},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, false},
};

}  // namespace

bool watch_profiler_calls(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber) {
  for (const WindowCall& call : kCalls)
    if (cupti.enable_callback(1, subscriber, call.domain, call.cbid) != CUPTI_SUCCESS) return false;
  return true;
}

ProfilerCall profiler_call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                           CUpti_ApiCallbackSite site) {
  for (const WindowCall& call : kCalls) {
    if (call.domain != domain || call.cbid != cbid) continue;
    if (call.starts && site == CUPTI_API_EXIT) return ProfilerCall::starts;
    if (!call.starts && site == CUPTI_API_ENTER) return ProfilerCall::stops;
    return ProfilerCall::other;
  }
  return ProfilerCall::none;
}

}  // namespace stallscope::collect
