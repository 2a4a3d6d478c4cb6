import torch


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.tensor([0.1, 0.9]))
        self.cached = {}

    def forward(self, x, y, rank):
        zero = torch.zeros((), device=x.device)
        one = torch.full((), 2.0, dtype=x.dtype, device=x.device)
        index = torch.tensor([rank, 3], device="cpu", pin_memory=True).cuda(non_blocking=True)
        if x.shape not in self.cached:
            self.cached[x.shape] = torch.tensor([1.0, 2.0], device=x.device)
        as_float = torch.tensor([1, 2]).to(torch.float32)
        return (self.weight * (x - y) ** 2).mean() + zero + one + index.sum() + as_float.numel()


def main(model, loader, optimizer):
    mean = torch.tensor([0.5, 0.4, 0.3], device="cuda")
    for x in loader:
        model(x - mean).backward()
        optimizer.step()


class Joint(torch.nn.Module):
    def forward(self, x, context=None):
        tokens = torch.cat((x, context if context is not None else torch.tensor([], device=x.device)))
        return self.blocks(tokens)


def log_ratio(a, b):
    a, b = [v if isinstance(v, torch.Tensor) else torch.tensor(v).to(a.device) for v in (a, b)]
    return a - b


class Ratio(torch.nn.Module):
    def forward(self, x):
        return log_ratio(x, self.layer(x))


class Schedule:
    def sample(self, batch, device):
        picked = self.pick(batch)
        return torch.from_numpy(picked).to(device)  # no call has its arguments


def fit_latents(model, loader, optimizer):
    for images in loader:
        latents = model.encode(images).latent_dist.sample()
        model.loss(latents).backward()
        optimizer.step()
