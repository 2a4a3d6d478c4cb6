// Which values a host that asks for them has to wait for.
#pragma once

#include "source/facts/value.h"

namespace stallscope {

/// Whether the host, to know `value`, reads a tensor of the device. What a module gave may be a
/// record, or None.
inline bool reads_device(const Value& value) {
  return value.is_device() && value.certainty >= Certainty::likely && !value.has(kModuleOutput) &&
         value.kind != Kind::parameter;
}

}  // namespace stallscope
