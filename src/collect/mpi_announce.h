// Announces an MPI call for as long as it runs, through annotate.h.
#pragma once

#include <stdint.h>

#include "collect/annotate.h"
#include "collect/mpi_communicator.h"

#define STALLSCOPE_MPI_EXPORT extern "C" __attribute__((visibility("default")))

namespace stallscope::mpi {

/// Bytes of `count` elements.
uint64_t bytes_of(int64_t count, Handle type);
/// The sum of the counts for each rank of a communicator.
int64_t sum_of(const int* counts, Handle communicator);

/// MPI_IN_PLACE is a small or a negative pointer constant, by library.
inline bool in_place(const void* buffer) {
  const auto value = reinterpret_cast<intptr_t>(buffer);
  return value == 1 || value == -1;
}

/// What a call moves, between whom. peer -1: nobody in particular.
stallscope_collective message(uint8_t op, bool async, uint64_t bytes, Handle communicator,
                              int peer);
stallscope_collective collective(uint8_t op, bool async, uint64_t bytes, Handle communicator,
                                 int root = -1);
stallscope_collective wait();

/// A function's name without the suffix of its large-count form.
struct PlainName {
  template <size_t N>
  explicit constexpr PlainName(const char (&name)[N]) {
    size_t length = N - 1;
    if (length > 2 && name[length - 2] == '_' && name[length - 1] == 'c') length -= 2;
    for (size_t i = 0; i < length; ++i) text[i] = name[i];
  }
  char text[48] = {};
};

/// Not within a call that announces itself: an MPI library may call itself.
extern thread_local int t_depth __attribute__((tls_model("initial-exec")));

template <typename Describe>
class Announced {
 public:
  Announced(const char* name, Describe describe) {
    announced_ = t_depth++ == 0 && stallscope_enabled() != 0;
    if (announced_) stallscope_collective_begin(name, describe());
  }
  ~Announced() {
    --t_depth;
    if (announced_) stallscope_end();
  }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

 private:
  bool announced_;
};

}  // namespace stallscope::mpi

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are lists and types
/// Defines MPI_NAME: announces the call as `description` and forwards it.
#define STALLSCOPE_MPI_CALL(name, parameters, arguments, description)                    \
  STALLSCOPE_MPI_EXPORT int MPI_##name parameters;                                       \
  STALLSCOPE_MPI_EXPORT int MPI_##name parameters {                                      \
    static stallscope::mpi::Function<int parameters> real("PMPI_" #name);                \
    static constexpr stallscope::mpi::PlainName plain("MPI_" #name);                     \
    const stallscope::mpi::Announced announced(plain.text, [&] { return description; }); \
    return real arguments;                                                               \
  }

/// The same for a name that is a macro itself.
#define STALLSCOPE_MPI_NAMED_CALL(name, ...) STALLSCOPE_MPI_CALL(name, __VA_ARGS__)
// NOLINTEND(bugprone-macro-parentheses)
