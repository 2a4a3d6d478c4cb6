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


class Trainer:
    """Every rank draws the same noise from the same seed."""

    def training_step(self, batch):
        self.generator.manual_seed(self.step)
        noise = torch.randn(batch.shape, generator=self.generator, device=batch.device)
        if self.rank == 0:
            self.progress.update(1)
        return self.model(batch, noise)

    def fit(self, loader, every):
        for step, batch in enumerate(loader):
            self.training_step(batch).backward()
            self.optimizer.step()
            if step % every == 0:
                codes = torch.empty(512, device=batch.device)
                if self.rank == 0:
                    codes.copy_(self.kmeans(batch))
                dist.broadcast(codes, src=0)


def train_with_progress(model, loader, optimizer, writer, rank):
    """The first rank only writes; what is shared is every rank's."""
    for step, x in enumerate(loader):
        loss = model(x)
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"step {step} of {len(loader)}")
        dist.broadcast(model.running_mean, src=step % 8)
