import torch
import torch.nn as nn


def build(args):
    model = nn.Linear(4, 4)
    model = nn.DataParallel(model)  # expect: data-parallel
    return model.cuda()


def wrap(net, ids):
    return torch.nn.parallel.DataParallel(net, device_ids=ids)  # expect: data-parallel


class Trainer:
    def __init__(self, model):
        self.model = torch.nn.DataParallel(model).cuda()  # expect: data-parallel


def fit(loader, writer):
    model = nn.DataParallel(Net().cuda())  # expect: data-parallel
    for x in loader:
        loss = model.forward(x).mean()
        writer.add_scalar("alpha", model.module.alpha.data)
        loss.backward()
