import torch


class MetricLogger:
    def __init__(self):
        self.meters = {}

    def update(self, **kwargs):
        for name, value in kwargs.items():
            if isinstance(value, torch.Tensor):
                value = value.item()  # nobody hands a tensor in
            self.meters.setdefault(name, []).append(value)


def train(model, loader, optimizer):
    logger = MetricLogger()
    count = 0
    for step, batch in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count += 1
        logger.update(lr=optimizer.param_groups[0]["lr"], count=count)
        logger.update(decay=optimizer.param_groups[0]["weight_decay"])
