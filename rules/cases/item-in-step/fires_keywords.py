import torch


class MetricLogger:
    def __init__(self):
        self.meters = {}

    def update(self, **kwargs):
        for name, value in kwargs.items():
            if isinstance(value, torch.Tensor):
                value = value.item()  # expect: item-in-step
            self.meters.setdefault(name, []).append(value)


def train(model, loader, optimizer):
    logger = MetricLogger()
    for batch in loader:
        losses = model(batch)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.update(lr=optimizer.param_groups[0]["lr"])
        logger.update(loss=loss, **losses)


def train_node(args, model, loader, optimizer, per_node):
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if not args.distributed or args.rank % per_node == 0:
            print(loss.item())  # expect: item-in-step
