// Python packages that were installed elsewhere than in site-packages (pip install --target DIR).
#pragma once

#include <set>
#include <string>

namespace stallscope {

/// Which of the Python source files belong to a package that an installer put where it is, as its
/// *.dist-info beside it says: "DIR/package/" or "DIR/module.py", joined by colons. Empty when none
/// does.
std::string installed_packages(const std::set<std::string>& files);

}  // namespace stallscope
