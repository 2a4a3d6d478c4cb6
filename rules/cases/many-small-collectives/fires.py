import torch
import torch.distributed as dist


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)  # expect: many-small-collectives


class Trainer:
    """Metrics one by one, and running statistics one by one."""

    def training_step(self, batch):
        losses = self.model(batch)
        for name, value in losses.items():
            dist.all_reduce(value)  # expect: many-small-collectives
            self.meters[name].update(value / dist.get_world_size())
        return sum(losses.values())

    def fit(self, loader):
        for batch in loader:
            self.training_step(batch).backward()
            self.optimizer.step()
            for param in self.model.parameters():
                dist.broadcast(param.data, src=0)  # expect: many-small-collectives


def clip_across_ranks(model, most):
    for name, param in model.named_parameters():
        if param.grad is not None:
            norm = param.grad.norm()
            dist.all_reduce(norm, op=dist.ReduceOp.MAX)  # expect: many-small-collectives
            param.grad.mul_(most / norm)


def train(trainer, model, loader, optimizer):
    for batch in loader:
        model(batch).mean().backward()
        clip_across_ranks(model, 1.0)
        average_gradients(model)
        optimizer.step()


def average_flat(grads):
    flat = torch._utils._flatten_dense_tensors(grads)
    dist.all_reduce(flat)
    return torch._utils._unflatten_dense_tensors(flat, grads)


def average_each(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad.data)  # expect: many-small-collectives


def train_averaged(model, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        average_each(model)
        optimizer.step()


class Reducer:
    def __init__(self, model):
        self.parameters = list(model.parameters())
        model.register_full_backward_hook(self.reduce_all)

    def reduce_all(self, module, inputs, outputs):
        for parameter in self.parameters:
            dist.all_reduce(parameter.grad)  # expect: many-small-collectives


class Synchronous(torch.optim.SGD):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                comm.allreduce_(p.grad)  # expect: many-small-collectives
        return super().step(closure)
