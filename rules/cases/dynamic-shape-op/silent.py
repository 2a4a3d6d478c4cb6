import numpy as np
import torch


class Router(torch.nn.Module):
    def forward(self, scores: torch.Tensor):
        table = np.unique(np.arange(10))
        return torch.where(scores > 0, scores, 0.0), table


class KnownLabels(torch.nn.Module):
    def forward(self, logits, labels):
        weights = torch.nn.functional.one_hot(labels, logits.shape[-1])
        more = torch.nn.functional.one_hot(labels, num_classes=4)
        return (logits * weights).sum() + more.sum()
