import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def main(model, dataset, rank):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model, device_ids=[rank])
    loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset), num_workers=4)
    return model, loader


def loaders_of_shards(paths, rank, world_size):
    """The files of each rank are others."""
    mine = paths[rank::world_size]
    dataset = Shards(mine)
    return DataLoader(dataset, batch_size=32, num_workers=4, pin_memory=True)


def eval_loader(dataset):
    """Every rank evaluates the same, in the same order."""
    subset = torch.utils.data.Subset(dataset, range(1000))
    return DataLoader(subset, batch_size=64, shuffle=False)
