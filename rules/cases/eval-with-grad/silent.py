import torch


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    return [model(x) for x, y in loader]


def validate(net, loader):
    net.eval()
    with torch.inference_mode():
        for x, y in loader:
            net(x)


def test_adversarial(model, loader):
    model.eval()
    for x in loader:
        model(x).sum().backward()


def train(model, loader):
    model.train()
    for x in loader:
        model(x)
