import torch
from torch.utils.tensorboard import SummaryWriter


def log_losses(out, step, tag, writer):
    for name, value in out.items():
        writer.add_scalar("%s/%s" % (tag, name), value, step)  # expect: tensor-format


def log_one(writer, value, step):
    writer.add_scalar("loss", value, step)  # expect: tensor-format


def train(model, data, optimizer, device):
    writer = SummaryWriter()
    for step, x in enumerate(data):
        loss = model(x.to(device, non_blocking=True)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log_losses({"loss": loss}, step, "train", writer)
        log_one(writer, loss, step)
