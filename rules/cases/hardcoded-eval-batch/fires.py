from torch.utils.data import DataLoader


def loaders(train_set, val_set, test_set):
    val = DataLoader(val_set, batch_size=1, num_workers=4)  # expect: hardcoded-eval-batch
    test = DataLoader(test_set, 8, num_workers=4)  # expect: hardcoded-eval-batch
    more = DataLoader(dataset=val_set, batch_size=16, num_workers=4)  # expect: hardcoded-eval-batch
    return val, test, more


class DataModule:
    """The evaluation takes hours, since its batch was once all that went in."""

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=4, num_workers=self.workers, pin_memory=True)  # expect: hardcoded-eval-batch

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)


def evaluate(model, eval_dataset, collate):
    loader = DataLoader(eval_dataset, batch_size=2, collate_fn=collate)  # expect: hardcoded-eval-batch
    return [model(batch) for batch in loader]
