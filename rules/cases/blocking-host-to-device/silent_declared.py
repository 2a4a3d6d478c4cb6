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


class Learner:
    def fit(self, loader):
        for state, prob in loader:
            state = state.to(self.device, non_blocking=True)
            prob = prob.to(self.device, non_blocking=True)
            self.train_step(state, prob)

    def train_step(self, state, prob):
        loss = (self.model(state.to(self.device)) - prob.to(self.device)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
