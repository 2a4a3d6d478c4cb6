#include "source/names/iteration.h"

#include "source/syntax/words.h"

namespace stallscope {

bool passes_as_asked(std::string_view callee) {
  return is_one_of(callee, {"tqdm", "track", "iter", "islice", "cycle", "log_every", "prefetch",
                            "prefetch_to_device"});
}

bool passes_elements(std::string_view callee) {
  return passes_as_asked(callee) || is_one_of(callee, {"list", "tuple", "sorted", "reversed"});
}

}  // namespace stallscope
