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


class Evaluator:
    """Metrics go into one tensor, which is gathered."""

    def evaluate(self, loader):
        sums = torch.zeros(3, device=self.device)
        for batch in loader:
            loss, accuracy = self.model(batch)
            sums += torch.stack([loss, accuracy, torch.ones_like(loss)])
        loss, accuracy, count = self.accelerator.reduce(sums).tolist()
        return {"loss": loss / count, "accuracy": accuracy / count}
