#include "collect/cupti_library.h"

#include <dlfcn.h>

#include "collect/cupti_search.h"

namespace stallscope::collect {
namespace {

CuptiLibrary g_library;

template <typename Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

const CuptiLibrary* load_cupti(const char** reason) {
  CuptiLibrary& library = g_library;
  if (library.handle != nullptr) return &library;
  void* handle = open_cupti();
  if (handle == nullptr) {
    *reason =
        "libcupti was not found: install the CUDA toolkit or NVIDIA's cupti package, set CUDA_HOME "
        "to it, or name the library in STALLSCOPE_CUPTI";
    return nullptr;
  }
  const bool complete = find(handle, "cuptiGetVersion", library.get_version) &&
                        find(handle, "cuptiGetTimestamp", library.get_timestamp) &&
                        find(handle, "cuptiSubscribe", library.subscribe) &&
                        find(handle, "cuptiUnsubscribe", library.unsubscribe) &&
                        find(handle, "cuptiEnableCallback", library.enable_callback) &&
                        find(handle, "cuptiGetCallbackName", library.get_callback_name) &&
                        find(handle, "cuptiGetResultString", library.get_result_string) &&
                        find(handle, "cuptiActivityRegisterCallbacks", library.register_buffers) &&
                        find(handle, "cuptiActivityEnable", library.enable) &&
                        find(handle, "cuptiActivityDisable", library.disable) &&
                        find(handle, "cuptiActivityFlushAll", library.flush_all) &&
                        find(handle, "cuptiActivityGetNextRecord", library.next_record) &&
                        find(handle, "cuptiActivityGetNumDroppedRecords", library.dropped_records);
  if (!complete) {
    *reason = "libcupti lacks a function of version 12.0: update the CUDA toolkit";
    dlclose(handle);
    return nullptr;
  }
  find(handle, "cuptiActivityEnableRuntimeApi", library.enable_runtime_api);
  find(handle, "cuptiActivityEnableDriverApi", library.enable_driver_api);
  find(handle, "cuptiSetThreadIdType", library.set_thread_id_type);
  find(handle, "cuptiActivityEnableAllSyncRecords", library.enable_all_sync_records);
  find(handle, "cuptiGetGraphNodeId", library.graph_node_id);
  find(handle, "cuptiGetGraphId", library.graph_id);
  find(handle, "cuptiGetGraphExecId", library.graph_exec_id);
  if (library.get_version(&library.version) != CUPTI_SUCCESS) library.version = 0;
  library.handle = handle;
  return &library;
}

}  // namespace stallscope::collect
