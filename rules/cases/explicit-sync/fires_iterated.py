"""Loops over objects of the project's own, and helpers that the constructor leaves open."""
import torch


class Feeder:
    def __init__(self, games):
        self.games, self.at = games, 0

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at >= len(self.games):
            raise StopIteration
        torch.cuda.synchronize()  # expect: explicit-sync
        self.at += 1
        return self.games[self.at - 1]


class Tools:
    def watch_gradients(self, model):
        torch.cuda.synchronize()  # expect: explicit-sync


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.tools = None

    def train(self, games):
        for x, y in Feeder(games):
            loss = self.model(x, y)
            loss.backward()
            self.tools.watch_gradients(self.model)
            self.optimizer.step()

    def train_named(self, games):
        feeder = Feeder(games)
        for x, y in feeder:
            self.model(x, y).backward()
            self.optimizer.step()
