#!/bin/bash
MODEL_ARGS="
    --tensor-model-parallel-size 4
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
"
torchrun pretrain_gpt.py $MODEL_ARGS  # not --no-async-tensor-model-parallel-allreduce
