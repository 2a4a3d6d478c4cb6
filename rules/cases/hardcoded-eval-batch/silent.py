from torch.utils.data import DataLoader


def loaders(train_set, val_set, args):
    train = DataLoader(train_set, batch_size=8, num_workers=4)
    val = DataLoader(val_set, batch_size=args.eval_batch_size, num_workers=4)
    large = DataLoader(val_set, batch_size=256, num_workers=4)
    return train, val, large


class Data:
    """The batch of the evaluation is that of the configuration, or as large as it fits."""

    def __init__(self, config, val_set, test_set):
        self.config = config
        self.val_set, self.test_set = val_set, test_set

    def val_dataloader(self):
        size = self.config.batch_size * 2
        return DataLoader(self.val_set, batch_size=size, num_workers=self.config.workers)

    def test_dataloader(self):
        sampler = self.config.sampler(self.test_set)
        return DataLoader(self.test_set, batch_sampler=sampler, num_workers=4)


def calibration_loader(train_set):
    subset = train_set.select(range(512))
    return DataLoader(subset, batch_size=4, shuffle=True)
