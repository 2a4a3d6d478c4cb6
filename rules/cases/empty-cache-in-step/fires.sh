torchrun pretrain_gpt.py --empty-unused-memory-level 2 --bf16  # expect: empty-cache-in-step
torchrun pretrain_gpt.py --empty-unused-memory-level=1  # expect: empty-cache-in-step
python run_clm.py --torch_empty_cache_steps 1  # expect: empty-cache-in-step
