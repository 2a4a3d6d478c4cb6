stallscope_unity(stallscope_rule)
# pyproject.toml is read with toml++, which is headers only.
target_include_directories(stallscope_rule SYSTEM PRIVATE "${STALLSCOPE_DEPS_DIR}/tomlplusplus")
