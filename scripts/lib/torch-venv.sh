# A Python with the PyTorch that comparisons name; sourced. Sets TORCH_PYTHON.
torch_venv() {
  TORCH_PYTHON=${STALLSCOPE_TORCH_PYTHON:-deps/torch-venv/bin/python}
  "$TORCH_PYTHON" -c 'import torch' 2>/dev/null && return 0
  python3 -m venv deps/torch-venv &&
    deps/torch-venv/bin/pip install -qq --retries 1 torch==2.13.0+cpu numpy \
      --extra-index-url https://download.pytorch.org/whl/cpu
  TORCH_PYTHON=deps/torch-venv/bin/python
  "$TORCH_PYTHON" -c 'import torch'
}
