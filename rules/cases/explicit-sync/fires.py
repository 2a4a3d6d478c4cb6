import torch
from torch import cuda


def train(model, loader, optimizer):
    for x, y in loader:
        loss = model(x, y)
        loss.backward()
        torch.cuda.synchronize()  # expect: explicit-sync
        optimizer.step()
        cuda.synchronize()  # expect: explicit-sync
        stream = torch.cuda.current_stream()
        stream.synchronize()  # expect: explicit-sync
