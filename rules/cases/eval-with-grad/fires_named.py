import torch


def cv(model, loader):
    model.eval()
    total = 0
    for x, y in loader:
        total += criterion(model(x), y)  # expect: eval-with-grad
    return total


def run_val(model, loader):
    model.eval()
    return [model(x) for x in loader]  # expect: eval-with-grad


class Trainer:
    def dev_epoch(self, loader):
        self.model.eval()
        for x in loader:
            self.scores.append(self.model(x))  # expect: eval-with-grad
