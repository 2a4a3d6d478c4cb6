import torch
import torch.distributed as dist


def gather_features(features):
    gathered = [torch.zeros_like(features) for _ in range(dist.get_world_size())]  # expect: collective-buffer-alloc
    dist.all_gather(gathered, features)
    return torch.cat(gathered)


class ClipLoss(torch.nn.Module):
    def forward(self, image, text):
        both = [torch.empty_like(image) for _ in range(self.world_size)]  # expect: collective-buffer-alloc
        dist.all_gather(both, image)
        ones = [torch.ones_like(text) for i in range(8)]  # expect: collective-buffer-alloc
        dist.all_gather(ones, text)
        return gather_features(torch.cat(both) @ torch.cat(ones).T)


def train(model, loader, optimizer, world):
    """Losses of all ranks, each into a tensor that was just made."""
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        losses = [torch.zeros_like(loss) for _ in range(world)]  # expect: collective-buffer-alloc
        dist.all_gather(losses, loss.detach())


class GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, world):
        whole = torch.empty(rows.shape[0] * world, *rows.shape[1:], device=rows.device)
        dist.all_gather(list(whole.chunk(world)), rows)  # expect: collective-buffer-alloc
        return whole

    @staticmethod
    def backward(ctx, gradient):
        own = torch.empty_like(gradient[: gradient.shape[0] // ctx.world])
        dist.reduce_scatter(own, list(gradient.chunk(ctx.world)))  # expect: collective-buffer-alloc
        return own, None


def gather_losses(loss):
    losses = [torch.zeros(1, device=loss.device) for _ in range(dist.get_world_size())]  # expect: collective-buffer-alloc
    dist.all_gather(losses, loss.detach().view(1))
    return torch.cat(losses).mean()


def train_and_gather(model, loader, optimizer):
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        gather_losses(loss)
