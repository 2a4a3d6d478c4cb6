// CUPTI's functions, found at run time: the collector is never linked to it.
#pragma once

#include <cupti.h>

namespace stallscope::collect {

/// The functions used; all non-null after a successful load, but for the optional ones.
struct CuptiLibrary {
  void* handle = nullptr;
  uint32_t version = 0;  ///< as cuptiGetVersion says: 26 = 12.8, 27 = 12.9, then 13xxyy

  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_buffers = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  // Optional: absent from old versions.
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_api = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_api = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&cuptiActivityEnableAllSyncRecords) enable_all_sync_records = nullptr;
  decltype(&cuptiGetGraphNodeId) graph_node_id = nullptr;
  decltype(&cuptiGetGraphId) graph_id = nullptr;
  decltype(&cuptiGetGraphExecId) graph_exec_id = nullptr;
};

/// Finds CUPTI (cupti_search.h) and its functions. Returns nullptr and the reason when there is
/// none that serves.
const CuptiLibrary* load_cupti(const char** reason);

}  // namespace stallscope::collect
