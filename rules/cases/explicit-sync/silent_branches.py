import torch


def main(config, loader, model, optimizer):
    """Branches that switch themselves off run once."""
    warming_up = True
    for step, batch in enumerate(loader):
        if warming_up:
            warming_up = False
            torch.cuda.synchronize()
        if config.by_patches and step > config.patch_steps:
            config.by_patches = False
            torch.cuda.synchronize()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()


class Module(LightningModule):
    def __init__(self):
        super().__init__()
        self.losses = []
        self.is_cold = True

    def training_step(self, batch, batch_idx):
        self.losses.append(self.net(batch).mean())
        if len(self.losses) % 100 == 0:
            torch.cuda.synchronize()
        if batch_idx == 0:
            torch.cuda.synchronize()
        if self.is_cold:
            self.is_cold = False
            torch.cuda.synchronize()
        return self.losses[-1]
