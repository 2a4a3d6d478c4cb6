import torch


class Attention(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("mask", torch.triu(torch.ones(n, n), diagonal=1))
        self.kept = None

    def forward(self, x):
        if self.kept is None:
            self.kept = torch.tril(torch.ones(8, 8, device=x.device))
        return torch.triu(x) + self.mask[: x.size(1), : x.size(1)].sum() + self.kept.sum()
