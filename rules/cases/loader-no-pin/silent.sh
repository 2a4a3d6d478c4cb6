python run_clm.py --dataloader_pin_memory True
python train.py --pin-mem --epochs 90
python run_clm.py  # --dataloader_pin_memory False
python train.py --pin-memory true  # not --no-pin-memory
