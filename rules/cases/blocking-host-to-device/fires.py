from tqdm import tqdm
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


def to_device(tree, device):
    return tree_map(lambda leaf: leaf.to(device), tree)  # expect: blocking-host-to-device


def fit(model, optimizer, dataloader, device):
    with tqdm(enumerate(iter(dataloader)), desc="train") as bar:
        for step, batch in bar:
            clip = batch.pop("video").to(device, torch.float16)  # expect: blocking-host-to-device
            model(clip).backward()
            optimizer.step()


class Strategy(SupervisedTemplate):
    def unpack(self):
        mbatch = self.mbatch
        for i in range(len(mbatch)):
            mbatch[i] = mbatch[i].to(self.device)  # expect: blocking-host-to-device


def run_epoch(model, progress, optimizer, device):
    for index, sources in enumerate(progress):
        sources = sources.to(device)  # expect: blocking-host-to-device
        loss = model(sources).mean()
        loss.backward()
        optimizer.step()


def fit_from(model, dl_iter, optimizer, device):
    while True:
        wave, = next(dl_iter)
        wave = wave.to(device)  # expect: blocking-host-to-device
        model(wave).mean().backward()
        optimizer.step()
