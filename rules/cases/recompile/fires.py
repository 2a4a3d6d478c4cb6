import torch


def build(model):
    fast = torch.compile(model, dynamic=False)  # expect: recompile
    other = torch.compile(model, mode="reduce-overhead", dynamic=False)  # expect: recompile
    return fast, other


def train(model, loader, optimizer):
    for x in loader:
        torch._dynamo.mark_static(x)  # expect: recompile
        model(x).backward()
        optimizer.step()
