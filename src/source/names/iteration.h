// Calls of Python that a loop runs over in the place of what they are given.
#pragma once

#include <string_view>

namespace stallscope {

/// Whether a call hands on the elements of its first argument one by one as a loop asks for them:
/// tqdm(x), islice(x, n), logger.log_every(x, n). enumerate(x) and zip(x, y) put others beside
/// them.
bool passes_as_asked(std::string_view callee);

/// The same, or all at once before the loop: list(x), sorted(x).
bool passes_elements(std::string_view callee);

}  // namespace stallscope
