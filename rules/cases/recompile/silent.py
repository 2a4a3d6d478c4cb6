import torch


def build(model, args):
    a = torch.compile(model)
    b = torch.compile(model, dynamic=True)
    c = torch.compile(model, dynamic=args.dynamic)
    d = torch.compile(model, dynamic=False)  # shapes may well stay as they are
    torch._dynamo.mark_static(args.example)
    return a, b, c, d
