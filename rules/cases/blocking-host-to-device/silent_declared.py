"""What a caller moved before, and what it computes, is on the device."""
import torch
from torch import Tensor


class Trainer:
    def fit(self, loader):
        for images, labels in loader:
            images = images.to(self.device, non_blocking=True)
            labels = labels.to(self.device, non_blocking=True)
            self.step(images, labels)

    def step(self, images: Tensor, labels: torch.Tensor):
        images = images.to(self.device)
        loss = self.criterion(self.model(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.keep(loss.detach())

    def keep(self, loss: Tensor):
        self.total = self.total + loss.to(self.device)
