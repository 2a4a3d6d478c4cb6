import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(dataset, held_out, model, optimizer):
    dist.init_process_group("nccl")
    model = DDP(model.cuda())
    loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset), num_workers=4)
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
