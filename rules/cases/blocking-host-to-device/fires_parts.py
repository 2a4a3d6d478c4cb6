import torch


def of_attributes(model, batch, device):
    x, y = batch.x, batch.y
    x = x.to(device)  # expect: blocking-host-to-device
    y = y.to(device)  # expect: blocking-host-to-device
    return (model(x) - y).abs().mean()


def of_keys(model, batch, device):
    x, y = batch["x"], batch["y"]
    x, y = x.to(device), y.to(device)  # expect: blocking-host-to-device
    return (model(x) - y).abs().mean()


def of_a_cast(model, batch, device):
    x = batch[0].float()
    x = x.to(device)  # expect: blocking-host-to-device
    return model(x).mean()


def of_pixels(model, batch, device):
    x = batch["image"].to(torch.float32) / 255
    y = 2.0 * batch["label"].float().div(9) - 1
    x = x.to(device)  # expect: blocking-host-to-device
    y = y.to(device)  # expect: blocking-host-to-device
    return (model(x) - y).abs().mean()


def of_a_star(model, batch, device):
    inputs, targets, *rest = batch
    inputs = inputs.permute(0, 3, 1, 2)
    inputs = inputs.to(device)  # expect: blocking-host-to-device
    return (model(inputs) - targets.long().to(device)).mean()  # expect: blocking-host-to-device


def of_items(model, batch, device):
    targets = torch.cat([item[1] for item in batch], dim=0)
    targets = targets.to(device)  # expect: blocking-host-to-device
    return model(targets).mean()


def train(model, optimizer, loader, device):
    losses = (of_attributes, of_keys, of_a_cast, of_pixels, of_a_star, of_items)
    for batch in loader:
        for loss_of in losses:
            loss = loss_of(model, batch, device)
            loss.backward()
            optimizer.step()


class Agent:
    def update(self):
        part = self.replay_buffers[0].sample().to(self.device)  # expect: blocking-host-to-device
        obs, actions = self.memory.sample(32)
        obs = obs.to(self.device)  # expect: blocking-host-to-device
        loss = (self.policy(obs) - self.policy(part)).mean()
        loss.backward()
        self.optimizer.step()


class Distillation:
    """What one branch makes of a part of the batch, the other does not have."""

    def bind(self, batch, device, model):
        images, targets, _ = batch
        if targets is None:
            targets, _ = self.teacher(images.to(device, non_blocking=True))
        else:
            targets = targets.to(device, dtype=torch.float32)  # expect: blocking-host-to-device
        return model(images.to(device, non_blocking=True), targets)

    def train(self, loader, device, model, optimizer):
        for batch in loader:
            self.bind(batch, device, model).backward()
            optimizer.step()


def fit(load, model, device):
    dataset = load("scene")
    optimizer = torch.optim.Adam(model.parameters())
    for i in range(1000):
        target = dataset.images[i % 100].to(device)  # expect: blocking-host-to-device
        pose = dataset.poses[i % 100].cuda()  # expect: blocking-host-to-device
        loss = (model(pose) - target).square().mean()
        loss.backward()
        optimizer.step()


def main(config, model, train_loader, optimizer):
    device = config.get("device", "cpu")
    for batch in train_loader:
        batch = [part.to(device) for part in batch]  # expect: blocking-host-to-device
        loss = model(*batch).mean()
        loss.backward()
        optimizer.step()


class Reconstruction:
    def forward(self, batch_data):
        texts, motions = batch_data
        motions = motions.detach().float().to(self.device)  # expect: blocking-host-to-device
        return self.criterion(self.model(motions), motions)

    def train(self, train_loader):
        for batch_data in train_loader:
            loss = self.forward(batch_data)
            loss.backward()
            self.optimizer.step()
