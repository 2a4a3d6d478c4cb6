import torch
import torch.distributed as dist


def reduce_tensor(tensor, world_size):
    rt = tensor.clone()
    dist.all_reduce(rt, op=dist.ReduceOp.SUM)
    return rt / world_size


def all_reduce_mean(tensor):
    work = dist.all_reduce(tensor, async_op=True)
    return tensor, work


def reduce_value(value):
    dist.reduce(value, 0)
    return value


def train(model, loader, optimizer, meter):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        pending = all_reduce_mean(loss.detach().clone())
        if step % 50 == 0:
            meter.update(reduce_tensor(loss.detach(), 8), pending)
    reduce_value(meter.total)
