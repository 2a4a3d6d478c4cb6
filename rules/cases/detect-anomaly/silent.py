import torch


def main(args, model, loader, optimizer):
    torch.autograd.set_detect_anomaly(False)
    if args.debug:
        torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(args.detect_anomaly)
    for x in loader:
        model(x).backward()
        optimizer.step()
