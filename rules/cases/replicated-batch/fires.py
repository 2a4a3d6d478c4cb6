import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def main(model, dataset, rank):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model, device_ids=[rank])
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4)  # expect: replicated-batch
    return model, loader
