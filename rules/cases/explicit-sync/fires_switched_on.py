import torch


class Module(LightningModule):
    """Flags that are set again do not switch a branch off for good."""

    def __init__(self):
        super().__init__()
        self.is_dirty = True

    def mark(self):
        self.is_dirty = True

    def training_step(self, batch, batch_idx):
        first = True
        if first:
            first = False
            torch.cuda.synchronize()  # expect: explicit-sync
        if self.is_dirty:
            self.is_dirty = False
            torch.cuda.synchronize()  # expect: explicit-sync
        return self.net(batch).mean()
