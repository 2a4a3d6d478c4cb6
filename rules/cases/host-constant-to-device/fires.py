import torch


class Loss(torch.nn.Module):
    def forward(self, x, y):
        weight = torch.tensor([0.1, 0.9], device=x.device)  # expect: host-constant-to-device
        scale = torch.tensor(2.0).to(x.device)  # expect: host-constant-to-device
        return (weight * (x - y) ** 2).mean() * scale


def clip(parameters, limit):
    total = torch.tensor([0], dtype=torch.float, device="cuda")  # expect: host-constant-to-device
    for p in parameters:
        total += p.grad.norm()
    return torch.where(total > limit, limit / total, torch.tensor(1.0, device=total.device))  # expect: host-constant-to-device


def train(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        clip(model.parameters(), 1.0)
        optimizer.step()
        empty = torch.FloatTensor([0]).cuda()  # expect: host-constant-to-device


class AnchorSampler:
    def __call__(self, boxes):
        return boxes * torch.tensor([1.0, 0.5], device=boxes.device)  # expect: host-constant-to-device


class Schedule:
    def sample(self, batch, device):
        picked = self.pick(batch)
        return torch.from_numpy(picked).to(device)  # expect: host-constant-to-device


def fit_steps(model, loader, optimizer, schedule, device):
    for images in loader:
        steps = schedule.sample(len(images), device)
        model.loss(images, steps).backward()
        optimizer.step()
