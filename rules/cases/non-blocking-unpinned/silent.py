import torch


def train(model, loader, optimizer, device, array):
    staged = torch.from_numpy(array).pin_memory()
    for batch in loader:
        x = batch.to(device, non_blocking=True)
        y = staged.to(device, non_blocking=True)
        z = torch.tensor([1.0], pin_memory=True).to(device, non_blocking=True)
        model(x, y, z).backward()
        optimizer.step()


class Prefetcher:
    """Staged in pinned memory, then copied on a stream of its own."""

    def next(self):
        array = next(self.source)
        self.staging.copy_(torch.from_numpy(array))
        with torch.cuda.stream(self.stream):
            return self.staging.to(self.device, non_blocking=True)

    def training_step(self, batch):
        weights = torch.tensor([1.0, 2.0], device=self.device)
        return (self.model(batch) * weights).mean()


def upload(array, device):
    """A plain copy says that it waits."""
    images = torch.from_numpy(array)
    return images.to(device)
