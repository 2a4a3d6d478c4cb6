"""Lightning moves the batches, and no device is named."""

from lightning import LightningModule, Trainer
from torch.utils.data import DataLoader


class Learner(LightningModule):
    def on_model_update_start(self, dataset):
        return DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4)  # expect: loader-no-pin

    def training_step(self, batch, batch_idx):
        return self.model(batch[0]).mean()
