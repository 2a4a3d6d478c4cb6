import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def train(dataset, model, optimizer):
    dist.init_process_group("nccl")
    model = DDP(model.cuda())
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4)  # expect: replicated-batch
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
