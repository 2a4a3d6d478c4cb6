# Trainers whose steps read themselves, and steps that train nothing.
import jax
import numpy as np


class Reading:
    def train_step(self, batch):
        self.state, loss = self.compiled(self.state, batch)
        self.losses.append(loss)
        return len(self.losses)


def train(loader):
    trainer = Reading()
    for batch in loader:
        number = trainer.train_step(batch)
        print(float(number))


def evaluate(trainer, dataset):
    for batch in dataset:
        loss = trainer.eval_step(batch)
        print(np.mean(loss))


def play(environment, steps):
    for _ in range(steps):
        observation, reward = environment.step(0)
        print(float(reward))


def learn(trainer, loader, epochs):
    for epoch in range(epochs):
        losses = []
        for batch in loader:
            losses.append(trainer.train_step(batch))
        print(epoch, np.mean(jax.device_get(losses)))


if __name__ == "__main__":
    train(load())
    evaluate(make(), load())
    play(make(), 10)
    learn(make(), load(), 3)
