// Objects that C++ makes, however that is written: which class, and what its constructor is given.
#pragma once

#include <optional>
#include <string_view>

#include "source/facts/facts.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// An object of the class `class_name`, without what stands in front of `::`.
struct MadeObject {
  std::string_view class_name;
  std::string_view arguments;  ///< with their brackets, as they are written; empty where none are
  /// How many the constructor is given.
  uint8_t given() const;
};

/// Storage(n), new Storage(n), std::make_unique<Storage>(n): the object that an expression makes,
/// as far as names tell, which mostly begin with a capital letter.
std::optional<MadeObject> object_made_by(const Ast& ast, NodeId expression);

/// `Buffer b(rows, cols);`, `Buffer b{n};`, `Buffer b;`: by the text, since the grammar takes
/// `b(n * rows, true)` for the declaration of a function.
MadeObject object_declared(const Ast& ast, NodeId declaration);

/// `storage_(n)` in front of the body of a constructor of the class, which declares the member
/// there, and as no pointer.
std::optional<MadeObject> member_made(const Ast& ast, const ClassFacts& owner, NodeId initializer);

}  // namespace stallscope
