python run_clm.py --do_train --dataloader_num_workers 8
torchrun train.py --num-workers 16
# torchrun train.py --num-workers 0
