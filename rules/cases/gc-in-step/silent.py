import gc
import torch


def train(model, loader, optimizer, epochs):
    gc.disable()
    for epoch in range(epochs):
        for step, (x, y) in enumerate(loader):
            model(x, y).backward()
            optimizer.step()
            if step % 500 == 0:
                gc.collect()
        gc.collect()


class Pauses:
    """Collection waits for the end of an epoch or a checkpoint."""

    def on_train_epoch_end(self):
        freed = gc.collect()
        print("collected", freed)

    def save_checkpoint(self, path):
        torch.save(self.model.state_dict(), path)
        gc.collect()


def train_after_failure(model, loader, optimizer):
    gc.freeze()
    for batch in loader:
        try:
            model(batch).backward()
        except torch.cuda.OutOfMemoryError:
            gc.collect()
            continue
        optimizer.step()
