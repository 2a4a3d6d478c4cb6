// A file of C++ without what need not be compiled to know the types in the rest.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "source/syntax/ast.h"

namespace stallscope {

/// `text` with the bodies of those functions emptied, and the initialisers of constructors, for
/// which `is_left_out` is true; every other byte stays where it is. A function whose body decides
/// its type (`auto`), may be run by the compiler, or holds lines of the preprocessor keeps it.
std::string with_emptied_bodies(std::string_view text,
                                const std::function<bool(const Node&)>& is_left_out);

}  // namespace stallscope
