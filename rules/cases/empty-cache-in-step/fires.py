import gc
import torch


def train(model, loader, optimizer):
    for x, y in loader:
        model(x, y).backward()
        optimizer.step()
        torch.cuda.empty_cache()  # expect: empty-cache-in-step
        gc.collect()  # expect: gc-in-step
