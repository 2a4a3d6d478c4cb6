import torch


class Ledger:
    def step(self, loss):
        self.total += loss
        return self.total.sum().item()  # expect: item-in-step


def train(agent, optimizer, steps):
    ledger = Ledger()
    for _ in range(steps):
        loss = agent.loss()
        loss.backward()
        ledger.step(loss)
        optimizer.step()
