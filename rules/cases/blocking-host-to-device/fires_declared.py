"""Steps whose arguments are declared as tensors: callers hand in batches."""
import torch
from torch import Tensor


class Trainer:
    def fit(self, loader):
        for images, labels in loader:
            self.step(images, labels)

    def step(self, images: Tensor, labels: torch.Tensor):
        images = images.to(self.device)  # expect: blocking-host-to-device
        labels = labels.to(self.device, non_blocking=True)
        loss = self.criterion(self.model(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
