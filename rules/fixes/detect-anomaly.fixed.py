# A suggestion: where a gradient is NaN, the program no longer stops.
import torch



def main(model, loader, optimizer):
    if loader is not None:
        pass
    torch.autograd.set_detect_anomaly(True)  # a comment says why: left to its reader
    train(model, loader, optimizer)
