import torch


def to_device(batch, device):
    return {name: part.to(device, non_blocking=True) for name, part in batch.items()}


def of_keys(model, batch, device):
    batch = to_device(batch, device)
    x, y = batch["x"], batch["y"]
    x, y = x.to(device), y.to(device)  # there already
    return (model(x) - y).abs().mean()


def of_attributes(model, batch, device):
    x, y = batch.x.to(device, non_blocking=True), batch.y.to(device, non_blocking=True)
    x = x.float()
    x = x.to(device)
    return (model(x) - y).abs().mean()


def of_pixels(model, batch, device):
    x = batch["image"].to(device, non_blocking=True) / 255
    x = x.to(torch.float32)
    x = x.to(device)  # there already
    return model(x).mean()


def of_the_model(model, batch, device):
    x, y = model(batch), batch.y
    x = x.to(device)
    return (x - y.to(device, non_blocking=True)).abs().mean()


def train(model, optimizer, loader, device):
    for batch in loader:
        for loss_of in (of_keys, of_attributes, of_pixels, of_the_model):
            loss = loss_of(model, batch, device)
            loss.backward()
            optimizer.step()


class Replay:
    def sample(self, n):
        return torch.as_tensor(self.rows[:n], device="cuda")


class Agent:
    def __init__(self):
        self.replay = Replay()

    def update(self):
        obs = self.replay.sample(32)
        obs = obs.to(self.device)  # there already
        loss = self.policy(obs).mean()
        loss.backward()
        self.optimizer.step()


def fit_kept(load, model, device):
    dataset = load("scene").to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for i in range(1000):
        loss = (model(dataset.poses[i % 100]) - dataset.images[i % 100]).square().mean()
        loss.backward()
        optimizer.step()


def fit_described(model, dataset_info, device):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(1000):
        loss = model(dataset_info.targets["energy"].to(device))
        loss.backward()
        optimizer.step()
