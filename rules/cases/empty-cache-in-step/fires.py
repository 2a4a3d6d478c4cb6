import torch
from transformers import TrainerCallback


def train(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        optimizer.step()
        torch.cuda.empty_cache()  # expect: empty-cache-in-step


class FreeMemory(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        torch.cuda.empty_cache()  # expect: empty-cache-in-step


def flush():
    torch.cuda.empty_cache()


class Trainer:
    """The line to change is the one that calls it."""

    def training_step(self, batch):
        flush()  # expect: empty-cache-in-step
        return self.model(batch)


def train_anywhere(model, loader, optimizer, device_module):
    for x in loader:
        model(x).backward()
        optimizer.step()
        device_module.empty_cache()  # expect: empty-cache-in-step
        get_accelerator().empty_cache()  # expect: empty-cache-in-step
