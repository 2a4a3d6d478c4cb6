/* Nothing: only the name of the library built from this counts. */
typedef int stallscope_empty;
