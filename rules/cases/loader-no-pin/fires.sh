python run_clm.py --dataloader_pin_memory False  # expect: loader-no-pin
python train.py --no-pin-mem --epochs 90  # expect: loader-no-pin
python train.py --epochs 90 --no-pin-memory  # expect: loader-no-pin
