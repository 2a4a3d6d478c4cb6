target_compile_definitions(stallscope_base PRIVATE STALLSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
# pyproject.toml is read with toml++, which is headers only.
target_include_directories(stallscope_base SYSTEM PRIVATE "${STALLSCOPE_DEPS_DIR}/tomlplusplus")
