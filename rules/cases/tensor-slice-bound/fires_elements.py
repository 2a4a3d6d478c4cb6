import torch
import torch.nn.functional as F
from torch import nn


class Packed(nn.Module):
    def forward(self, x: torch.Tensor, offsets: torch.Tensor):
        table = torch.zeros(offsets[-1])  # expect: tensor-slice-bound
        wide = x.repeat(offsets[0], 1)  # expect: tensor-slice-bound
        keep = [False] * offsets[1]  # expect: tensor-slice-bound
        count = offsets[-1] + 1
        rows = torch.zeros(count, 3)  # expect: tensor-slice-bound
        return table.sum() + wide.sum() + rows.sum() + len(keep)
