import torch
from torch.utils.data import DataLoader


def train(model, data, optimizer, device):
    loader = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
    for x, y in loader:
        x = x.to(device)  # expect: blocking-host-to-device
        y = y.cuda()  # expect: blocking-host-to-device
        model(x, y).backward()
        optimizer.step()
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}  # expect: blocking-host-to-device
        model(**batch).backward()
        optimizer.step()
