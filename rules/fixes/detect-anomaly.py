# A suggestion: where a gradient is NaN, the program no longer stops.
import torch

torch.autograd.set_detect_anomaly(True)


def main(model, loader, optimizer):
    if loader is not None:
        torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(True)  # a comment says why: left to its reader
    train(model, loader, optimizer)
