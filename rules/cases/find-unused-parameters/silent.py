import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, rank, args):
    model = DDP(model, device_ids=[rank])
    other = DDP(model, device_ids=[rank], find_unused_parameters=False)
    third = DDP(model, find_unused_parameters=args.find_unused)
    return model, other, third
