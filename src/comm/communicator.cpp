#include "comm/communicator.h"

namespace stallscope::comm {

Error Communicator::wrong_size(std::string_view collective) const {
  return Error{.message = std::string(collective) + " on group " + group_ +
                          ": the larger buffer must hold " + std::to_string(size_) +
                          " times the smaller one"};
}

Error Communicator::wrong_root(int root) const {
  return Error{.message = "broadcast on group " + group_ + ": no rank " + std::to_string(root) +
                          " among " + std::to_string(size_)};
}

}  // namespace stallscope::comm
