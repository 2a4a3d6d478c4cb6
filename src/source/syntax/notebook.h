// Notebooks: the code cells of an .ipynb file as one Python text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

struct Notebook {
  std::string code;                       ///< magics blanked out; each cell on lines of its own
  std::vector<std::string> cell_of_line;  ///< per line, from 0: "cell 3, line 2"
  std::string problem;                    ///< why it could not be read; empty when it could
};

/// Empty code when `json` is not a notebook.
Notebook notebook_code(std::string_view json);

}  // namespace stallscope
