// The objects mapped into the process, for naming addresses offline.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// Defines every loaded object not yet defined: path, bias, code, build id.
void note_modules(Session& session);

}  // namespace stallscope::collect
