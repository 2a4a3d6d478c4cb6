import torch


class Tensors:
    @staticmethod
    def to(data, device):
        if isinstance(data, torch.Tensor):
            return data.to(device)  # expect: blocking-host-to-device
        return {name: Tensors.to(value, device) for name, value in data.items()}


def train(model, loader, optimizer, device):
    for batch in loader:
        inputs = Tensors.to(batch["inputs"], device)
        model(inputs).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
