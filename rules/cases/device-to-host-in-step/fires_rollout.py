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


class Agent:
    """Learns from what it has played, in minibatches."""

    def act(self, observation):
        with torch.no_grad():
            action, value = self.policy(observation)
        return action.cpu().numpy(), value.cpu().numpy()  # expect: device-to-host-in-step

    def optimize(self):
        for batch in self.storage.minibatches():
            loss = self.policy.loss(batch)
            loss.backward()
            self.optimizer.step()

    def train(self, env, rounds):
        observation = env.reset()
        while self.played < rounds:
            for _ in range(128):
                action, value = self.act(observation)
                observation, reward, done, _ = env.step(action)
                self.storage.add(observation, reward, value)
            self.optimize()
