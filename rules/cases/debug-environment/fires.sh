#!/bin/bash
set -euo pipefail
export CUDA_LAUNCH_BLOCKING=1  # expect: debug-environment
export OMP_NUM_THREADS=8 TORCH_DISTRIBUTED_DEBUG="DETAIL"  # expect: debug-environment
NCCL_DEBUG=TRACE torchrun --nproc-per-node 8 train.py --lr 1e-4  # expect: debug-environment
mpirun -np 16 -x NCCL_DEBUG=TRACE -x PATH ./train  # expect: debug-environment
srun bash -c "JAX_DISABLE_JIT=1 python train.py"  # expect: debug-environment
