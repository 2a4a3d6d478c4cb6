stallscope_unity(stallscope_record)
# Their types hold others of the file's own.
foreach(file node_sampler nvml python_sampler)
  set_source_files_properties("${CMAKE_SOURCE_DIR}/src/record/${file}.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
# libelf finds the interpreter's symbols; it is a part of elfutils, as libdw is.
target_link_libraries(stallscope_record PUBLIC elf)
