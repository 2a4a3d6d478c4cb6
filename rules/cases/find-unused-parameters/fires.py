import torch
from accelerate import DistributedDataParallelKwargs
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, rank):
    model = DDP(model, device_ids=[rank], find_unused_parameters=True)  # expect: find-unused-parameters
    return model


def wrap_again(model, rank):
    return torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank], find_unused_parameters=True)  # expect: find-unused-parameters


kwargs = DistributedDataParallelKwargs(find_unused_parameters=True)  # expect: find-unused-parameters


def tune(model, RayDDPStrategy):
    return lightning.Trainer(strategy=RayDDPStrategy(find_unused_parameters=True))  # expect: find-unused-parameters
