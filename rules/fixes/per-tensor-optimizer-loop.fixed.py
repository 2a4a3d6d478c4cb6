# A suggestion: all parameters at once take more memory for a moment, and round in another order.
import torch


def build(model, lr):
    return torch.optim.AdamW(
        model.parameters(),
        lr=lr,
        weight_decay=0.1,
    )


def build_sgd(model, lr):
    return torch.optim.SGD(model.parameters(), lr=lr)


def build_fused(model, lr):
    return torch.optim.AdamW(model.parameters(), lr=lr, fused=True)
