torchrun pretrain_gpt.py --empty-unused-memory-level 0
python run_clm.py --torch_empty_cache_steps 500
# torchrun pretrain_gpt.py --empty-unused-memory-level 2
