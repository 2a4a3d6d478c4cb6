// Where CUPTI is found: a program may bring its own, of a version that fits it.
#pragma once

namespace stallscope::collect {

/// Opens CUPTI: the library that STALLSCOPE_CUPTI names and no other, or what the process has
/// loaded already (PyTorch brings its own), what lies beside the CUDA libraries it has loaded
/// (wheels, conda, toolkits), in CUDA_HOME or CUDA_PATH, on the loader's search path, in
/// /usr/local. Version 13 before 12, the other way round where the program's runtime or the driver
/// is of 12: they do not work with 13. nullptr when there is none.
void* open_cupti();

}  // namespace stallscope::collect
