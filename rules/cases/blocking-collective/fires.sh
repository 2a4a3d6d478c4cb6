#!/bin/bash
MODEL_ARGS="
    --tensor-model-parallel-size 4
    --use-distributed-optimizer  # expect: blocking-collective
    --no-async-tensor-model-parallel-allreduce  # expect: blocking-collective
    --bf16
"
torchrun pretrain_gpt.py $MODEL_ARGS --no-async-tensor-model-parallel-allreduce  # expect: blocking-collective
