import torch
import torch.distributed as dist


def train(model, loader, optimizer, rank):
    for x in loader:
        if rank == 0:  # expect: rank0-compute-broadcast
            plan = assign(x)
        else:
            plan = torch.empty(8, device="cuda")
        dist.broadcast(plan, 0)
        loss = model(x, plan).sum()
        loss.backward()
        optimizer.step()
