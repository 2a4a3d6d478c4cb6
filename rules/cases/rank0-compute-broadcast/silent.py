import torch
import torch.distributed as dist


def setup(config, rank):
    seed = torch.zeros(1)
    if rank == 0:
        seed.fill_(config.seed)
    dist.broadcast(seed, src=0)
    return seed


def train(model, loader, optimizer, rank):
    for step, x in enumerate(loader):
        loss = model(x)
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(step)
        dist.all_reduce(loss)
