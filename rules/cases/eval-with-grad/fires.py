import torch


def evaluate(model, loader):
    model.eval()
    total = 0
    for x, y in loader:
        total += (model(x).argmax(-1) == y).sum()  # expect: eval-with-grad
    return total


def validate(net, loader, criterion):
    net.eval()
    losses = []
    for x, y in loader:
        out = net(x)  # expect: eval-with-grad
        losses.append(criterion(out, y))
    return losses


class Runner:
    def validate_epoch(self, loader):
        self.model.eval()
        hits = []
        for batch in loader:
            hits.append(self.model(batch))  # expect: eval-with-grad
        return hits
