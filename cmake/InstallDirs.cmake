# Where things go in an installed tree. Named before any folder installs into it.
# lib/ on every distribution: the tool looks for its libraries in ../lib/stallscope,
# so that the tree can be moved.
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Libraries, relative to the prefix")
include(GNUInstallDirs)
