"""A trainer's own run_step(), beside agents that drive and planners that plan in theirs."""
import torch

from detectron2.engine import SimpleTrainer


class LoggingTrainer(SimpleTrainer):
    def run_step(self):
        losses = self.model(next(self._data_loader_iter))
        loss = sum(losses.values())
        loss.backward()
        self.optimizer.step()
        self.storage.put_scalar("loss", loss.item())  # expect: item-in-step


def train(model, optimizer, loader, network_gui):
    for batch in loader:
        network_gui.refresh()
        loss = model(batch)
        loss.backward()
        optimizer.step()
        while loss.item() > 10:  # expect: item-in-step
            loss = loss / 10
