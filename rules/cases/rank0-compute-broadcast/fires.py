import torch
import torch.distributed as dist


def train(model, loader, optimizer, rank):
    for x in loader:
        weights = torch.empty(8, device="cuda")
        if rank == 0:  # expect: rank0-compute-broadcast
            weights.copy_(model.solve(x))
        dist.broadcast(weights, src=0)
        model(x, weights).backward()
        optimizer.step()


def train_again(model, loader, optimizer):
    for x in loader:
        out = torch.empty(8, device="cuda")
        if dist.get_rank() == 0:  # expect: rank0-compute-broadcast
            out.copy_(model.plan(x))
        dist.broadcast(out, 0)
        model(x, out).backward()
        optimizer.step()


class Trainer:
    def training_step(self, batch):
        noise = torch.empty_like(batch)
        if self.rank == 0:  # expect: rank0-compute-broadcast
            noise.normal_()
        dist.broadcast(noise, src=0)
        return self.model(batch, noise)
