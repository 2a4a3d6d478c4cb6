import torch
from torch import autograd

torch.autograd.set_detect_anomaly(True)  # expect: detect-anomaly


def train(model, loader, optimizer):
    autograd.set_detect_anomaly(True)  # expect: detect-anomaly
    for x in loader:
        with torch.autograd.detect_anomaly():  # expect: detect-anomaly
            loss = model(x)
            loss.backward()
        optimizer.step()
