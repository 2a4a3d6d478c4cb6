import torch


class Loss(torch.nn.Module):
    def forward(self, logits: torch.Tensor, labels: torch.Tensor):
        keep = labels != -100
        logits[~keep] = 0
        first = logits[:, 0]
        return (first * keep).sum() / keep.sum()
