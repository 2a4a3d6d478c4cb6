import torch
import torch.distributed as dist


def average_gradients(model):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)


def average_together(model):
    """All of them in one launch."""
    with dist._coalescing_manager():
        for p in model.parameters():
            dist.all_reduce(p.grad)


def synchronise_start(model):
    """Once: all ranks start from the same weights."""
    for buffer in model.buffers():
        dist.broadcast(buffer, src=0)
    dist.barrier()


class Trainer:
    def __init__(self, model, meters):
        self.model, self.meters = model, meters
        synchronise_start(model)

    def training_step(self, batch):
        losses = self.model(batch)
        names = sorted(losses)
        packed = torch.stack([losses[name].detach() for name in names])
        dist.all_reduce(packed)
        self.meters.update(names, packed / dist.get_world_size())
        return sum(losses.values())


def share_parameters(module, group):
    for parameter in module.parameters():
        dist.broadcast(parameter, src=0, group=group)  # when the model is set up
