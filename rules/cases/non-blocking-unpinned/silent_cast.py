import torch
from torch.utils.data import DataLoader


def train(model, dataset, optimizer, device):
    loader = DataLoader(dataset, batch_size=32, num_workers=4, pin_memory=True)
    for images, labels in loader:
        images = images.to(device, non_blocking=True).float()
        labels = labels.cuda(non_blocking=True).long()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()


def finetune(model, loader, optimizer, device):
    for batch in loader:
        x = batch["image"].to(device, non_blocking=True).half()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()


def evaluate(model, loader, device):
    with torch.no_grad():
        for images, _ in loader:
            model(images.float().to(device, non_blocking=True))
