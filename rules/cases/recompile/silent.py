import torch


def build(model, args):
    a = torch.compile(model)
    b = torch.compile(model, dynamic=True)
    c = torch.compile(model, dynamic=args.dynamic)
    return a, b, c
