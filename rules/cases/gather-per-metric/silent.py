import torch


class Trainer:
    def compute_loss(self, model, inputs):
        chosen, rejected, loss = model(inputs)
        both = self.accelerator.gather(torch.stack([chosen.mean(), rejected.mean()]))
        self.last = both
        return loss


def train(model, loader, optimizer, accelerator):
    for step, batch in enumerate(loader):
        loss = model(batch)
        accelerator.backward(loss)
        optimizer.step()
        if step % 50 == 0:
            a = accelerator.gather(loss).mean().item()
            b = accelerator.gather(loss * 2).mean().item()
            accelerator.log({"a": a, "b": b})
        total = accelerator.reduce(loss.detach())
    return total
