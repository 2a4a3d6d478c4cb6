from torch.utils.data import DataLoader


def loaders(train_set, val_set, test_set):
    val = DataLoader(val_set, batch_size=1, num_workers=4)  # expect: hardcoded-eval-batch
    test = DataLoader(test_set, 8, num_workers=4)  # expect: hardcoded-eval-batch
    more = DataLoader(dataset=val_set, batch_size=16, num_workers=4)  # expect: hardcoded-eval-batch
    return val, test, more
