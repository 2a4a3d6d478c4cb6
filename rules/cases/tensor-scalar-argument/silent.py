import torch


class Mixer(torch.nn.Module):
    def __init__(self, momentum=0.9):
        super().__init__()
        self.momentum = momentum

    def forward(self, x, y, gate: torch.Tensor):
        out = torch.add(x, y, alpha=0.5)
        out = out.add(y, alpha=1 - self.momentum)
        return out * gate


class Sized(torch.nn.Module):
    def forward(self, x):
        return x + torch.full((3,), 0.5, device=x.device) + torch.full(x.shape, x.shape[0])


class Ema(torch.nn.Module):
    """The factors are numbers of the host; tensors are multiplied."""

    def forward(self, average, x, weight: torch.Tensor):
        average = torch.lerp(average, x, 0.01)
        average = average.add(x * weight)
        return torch.addcmul(average, x, weight, value=0.5)


class Attention(torch.nn.Module):
    def forward(self, x, mask):
        scores = self.qk(x)
        scores = scores.masked_fill(mask, float("-inf"))
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return torch.where(mask, scores.min(), scores)
