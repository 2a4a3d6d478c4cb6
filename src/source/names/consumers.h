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

  /// `for x in tqdm(CALL)`, `made = CALL` before `for x in made`: the loop, or kNone.
  uint32_t of(NodeId call) const;
  /// What a loop takes its elements from, without enumerate() and the like; kNoNode if it counts.
  NodeId iterated(uint32_t loop) const;

 private:
  struct Named {
    uint32_t function, loop;
    std::string_view name;
  };

  const Ast& ast_;
  const Outline& outline_;
  std::vector<Named> named_;  ///< loops over a variable, in the order of the file
};

}  // namespace stallscope
