#include "collect/python_stack.h"

namespace stallscope::collect {

size_t walk_python(uint64_t (&)[kMaxPythonFrames]) {
  return 0;
}

}  // namespace stallscope::collect
