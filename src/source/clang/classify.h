// What a type that libclang knows is to the rules.
#pragma once

#include <map>
#include <string>

#include "source/clang/api.h"
#include "source/facts/type_facts.h"

namespace stallscope {

/// A class, and its name when it is one of the program's own.
struct Classified {
  TypeClass type = TypeClass::unknown;
  std::string name;
};

class TypeClassifier {
 public:
  explicit TypeClassifier(const clang::Api& api) : api_(api) {}

  /// References, pointers and smart pointers are what they lead to.
  Classified of(clang::Type type) const { return classify(type, 0); }
  /// "at.Tensor", "std.vector": without inline namespaces.
  std::string qualified_name(clang::Cursor declaration) const;

 private:
  Classified classify(clang::Type type, unsigned depth) const;
  Classified of_record(clang::Type type, unsigned depth) const;
  TypeClass of_bases(clang::Cursor declaration, unsigned depth) const;
  clang::Type first_argument(clang::Type type) const;

  const clang::Api& api_;
  /// By declaration: templates have one for each of their instances.
  mutable std::map<const void*, Classified> known_;
};

/// Whether a dotted name is of a library the rules are about, or of the standard one.
bool is_library_name(const std::string& dotted);

}  // namespace stallscope
