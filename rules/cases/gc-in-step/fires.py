import gc

import torch


def train(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        optimizer.step()
        gc.collect()  # expect: gc-in-step


def release():
    gc.collect()  # expect: gc-in-step


class Trainer:
    def training_step(self, batch):
        release()
        return self.model(batch)

    def on_train_batch_end(self, trainer, batch):
        gc.collect()  # expect: gc-in-step


class Callback:
    def on_step_end(self, state):
        gc.collect()  # expect: gc-in-step
