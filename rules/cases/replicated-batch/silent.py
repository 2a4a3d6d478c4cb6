import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def main(model, dataset, rank):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model, device_ids=[rank])
    loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset), num_workers=4)
    return model, loader
