import torch
from torch import autograd
import pytorch_lightning as pl

torch.autograd.set_detect_anomaly(True)  # expect: detect-anomaly


def train(model, loader, optimizer):
    autograd.set_detect_anomaly(True)  # expect: detect-anomaly
    for x in loader:
        with torch.autograd.detect_anomaly():  # expect: detect-anomaly
            loss = model(x)
            loss.backward()
        optimizer.step()


class Trainer:
    """Detection was left on after a search."""

    def __init__(self, model):
        torch.autograd.set_detect_anomaly(mode=True, check_nan=True)  # expect: detect-anomaly
        self.model = model

    def training_step(self, batch):
        with autograd.detect_anomaly():  # expect: detect-anomaly
            loss = self.model(batch).mean()
            loss.backward()
        return loss


def fit(model, data):
    trainer = pl.Trainer(max_epochs=3, detect_anomaly=True)  # expect: detect-anomaly
    trainer.fit(model, data)
