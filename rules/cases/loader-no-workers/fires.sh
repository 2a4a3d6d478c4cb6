python run_clm.py --do_train --dataloader_num_workers 0 --bf16  # expect: loader-no-workers
torchrun train.py --num-workers=0  # expect: loader-no-workers
torchrun pretrain_gpt.py --lr 1e-4 --num-workers 0 --bf16  # expect: loader-no-workers
