import numpy as np
import torch


def train(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        for step, (x, y) in enumerate(loader):
            try:
                model(x, y).backward()
            except RuntimeError:
                torch.cuda.empty_cache()
            optimizer.step()
            if step % 500 == 0:
                torch.cuda.empty_cache()
        torch.cuda.empty_cache()


def train_with_pages(model, loader, optimizer, pages, device_module):
    for step, x in enumerate(loader):
        model(x).backward()
        optimizer.step()
        pages.empty_cache("keys")
        if step % 200 == 0:
            device_module.empty_cache()


class Trainer:
    """Between training and validation, whose shapes differ; not in the steps."""

    def fit(self, epochs):
        for _ in range(epochs):
            self.train_epoch()
            torch.cuda.empty_cache()
            self.validate()

    def train_epoch(self):
        for batch in self.loader:
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            if torch.cuda.memory_reserved() > self.most and self.steps % 1000 == 0:
                torch.cuda.empty_cache()


def clear_memory():
    torch.cuda.empty_cache()


def train_rounds(model, loader, optimizer, rounds):
    """Once a round, between other sizes of batches."""
    for _ in range(rounds):
        clear_memory()
        for x in loader:
            model(x).backward()
            optimizer.step()


class Segmenter(torch.nn.Module):
    """Pictures in, masks out: nothing here is trained."""

    def forward(self, images: list, points: list) -> tuple[np.ndarray, np.ndarray]:
        masks, scores = self.process(images, points)
        torch.cuda.empty_cache()
        return np.array(masks), np.array(scores)
