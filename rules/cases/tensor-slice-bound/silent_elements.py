import torch
from torch import nn


class Packed(nn.Module):
    def forward(self, x: torch.Tensor, offsets: torch.Tensor, sizes: list[int]):
        table = torch.zeros(sizes[-1])
        keep = [False] * sizes[1]
        wide = x.repeat(x.shape[0], 1)
        pairs = [0] * len(sizes)
        return table.sum() + wide.sum() + offsets[-1] + len(keep) + len(pairs)
