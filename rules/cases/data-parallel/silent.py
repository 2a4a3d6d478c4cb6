import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def build(model, rank):
    model = DDP(model, device_ids=[rank])
    if isinstance(model, torch.nn.DataParallel):
        model = model.module
    return model


def unwrap(model):
    return model.module if hasattr(model, "module") else model
