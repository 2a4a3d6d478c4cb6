import torch
import torch.distributed as dist


def reduce_tensor(tensor, world_size):
    rt = tensor.clone()
    dist.all_reduce(rt, op=dist.ReduceOp.SUM)  # expect: blocking-collective
    return rt / world_size


def all_reduce_mean(tensor):
    dist.all_reduce(tensor)  # expect: blocking-collective
    return tensor / dist.get_world_size()


def reduce_value(value):
    dist.reduce(value, 0)  # expect: blocking-collective
    return value


def train(model, loader, optimizer, total):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += reduce_tensor(loss.detach(), 8)
        total += all_reduce_mean(loss.detach().clone())
        total += reduce_value(loss.detach().clone())
