target_compile_definitions(stallscope_base PRIVATE STALLSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
