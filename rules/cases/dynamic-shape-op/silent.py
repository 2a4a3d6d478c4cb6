import numpy as np
import torch


class Router(torch.nn.Module):
    def forward(self, scores: torch.Tensor):
        table = np.unique(np.arange(10))
        return torch.where(scores > 0, scores, 0.0), table
