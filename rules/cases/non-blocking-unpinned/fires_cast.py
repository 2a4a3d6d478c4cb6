import torch
from torch.utils.data import DataLoader


def train(model, dataset, optimizer, device):
    loader = DataLoader(dataset, batch_size=32, num_workers=4, pin_memory=True)
    for images, labels in loader:
        images = images.float().to(device, non_blocking=True)  # expect: non-blocking-unpinned
        labels = labels.long().cuda(non_blocking=True)  # expect: non-blocking-unpinned
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()


def finetune(model, loader, optimizer, device):
    for batch in loader:
        x = batch["image"].half().to(device, non_blocking=True)  # expect: non-blocking-unpinned
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
