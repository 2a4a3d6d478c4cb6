stallscope_unity(stallscope_import)
# The NVTX headers give the numbers of payload types; none of their code is used.
target_link_libraries(stallscope_import PRIVATE stallscope_nvtx)
