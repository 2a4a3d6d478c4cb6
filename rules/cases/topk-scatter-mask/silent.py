import torch


class Router(torch.nn.Module):
    def forward(self, logits):
        values, indices = logits.topk(2, dim=-1)
        return torch.nn.functional.one_hot(indices, logits.shape[-1]).sum(1) * logits


class Sparse(torch.nn.Module):
    def forward(self, x, index):
        out = torch.zeros_like(x)
        return out.scatter_(1, index, 1.0)


class Accumulate(torch.nn.Module):
    """Sums by where they belong: no mask."""

    def forward(self, x, index, values):
        best = values.topk(2, dim=-1).values
        sums = torch.zeros_like(x)
        sums = sums.index_add(0, index, best)
        return x + sums
