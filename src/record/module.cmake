# libelf finds the interpreter's symbols; it is a part of elfutils, as libdw is.
target_link_libraries(stallscope_record PUBLIC elf)
