"""Environments in processes of their own, and an agent that learns from what they send."""

import torch
from torch.distributions import Categorical


def train(model, optimizer, workers, steps, epochs):
    model.cuda()
    states = reset(workers)
    while True:
        record = []
        for _ in range(steps):
            logits, value = model(states)
            action = Categorical(logits=logits).sample()
            for worker, choice in zip(workers, action.cpu()):  # expect: device-to-host-in-step
                worker.send(("step", choice))
            states, reward = gather([worker.recv() for worker in workers])
            record.append((value, reward))
        for epoch in range(epochs):
            for batch in split(record):
                loss = loss_of(model, batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


if __name__ == "__main__":
    model = make()
    train(model, torch.optim.Adam(model.parameters()), start(), 128, 4)
