#!/bin/bash
# export CUDA_LAUNCH_BLOCKING=1
export CUDA_LAUNCH_BLOCKING=0
export NCCL_DEBUG=WARN TORCH_DISTRIBUTED_DEBUG=OFF
unset JAX_DISABLE_JIT
echo "set CUDA_LAUNCH_BLOCKING to find the kernel that fails"
NCCL_DEBUG=${NCCL_DEBUG:-INFO} torchrun train.py
export TORCH_DISTRIBUTED_DEBUG=INFO  # says more while the job starts, and nothing later
