import torch
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    """Gradients of each micro-batch cross the wire."""

    def __init__(self, model, optimizer, local_rank, grad_accum):
        self.model = DistributedDataParallel(model, device_ids=[local_rank])
        self.optimizer = optimizer
        self.grad_accum = grad_accum

    def fit(self, loader):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            (loss / self.grad_accum).backward()  # expect: no-sync-accumulation
            if (step + 1) % self.grad_accum == 0:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)


def train_mixed(model, loader, optimizer, scaler, args, device):
    ddp = DistributedDataParallel(model, device_ids=[device])
    iterations = 0
    for x, y in loader:
        with torch.autocast("cuda"):
            logits, loss = ddp(x, y)
        scaler.scale(loss / args.accumulate).backward()  # expect: no-sync-accumulation
        iterations += 1
        if iterations % args.accumulate == 0 or iterations == len(loader):
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
