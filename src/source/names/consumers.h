// Which loop runs over what a call makes: where it makes a generator, the generator's body runs
// with that loop.
#pragma once

#include <string_view>
#include <vector>

#include "source/names/outline.h"
#include "source/syntax/ast.h"

namespace stallscope {

class Consumers {
 public:
  /// Both must outlive it.
  Consumers(const Ast& ast, const Outline& outline);

  /// `for x in tqdm(CALL)`, `made = CALL` before `for x, y in zip(made, z)` or before a loop that
  /// takes next(made): the loop, or kNone.
  uint32_t of(NodeId call) const;
  /// `for f in [A, B]`, `{"a": A}` before a loop over its values(): that loop for A, or kNone.
  uint32_t of_element(NodeId element) const;
  /// What a loop takes its elements from, without enumerate() and the like; kNoNode if it counts.
  NodeId iterated(uint32_t loop) const;

 private:
  struct Named {
    uint32_t function, loop;
    std::string_view name;
  };

  void note(NodeId over, uint32_t loop);
  uint32_t of_whole(NodeId whole, NodeId holder) const;

  const Ast& ast_;
  const Outline& outline_;
  std::vector<Named> named_;  ///< loops over variables, in the order of the file
};

}  // namespace stallscope
