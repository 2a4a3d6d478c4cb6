import torch


class Trainer:
    def compute_loss(self, model, inputs):
        chosen, rejected, loss = model(inputs)
        metrics = {}
        metrics["chosen"] = self.accelerator.gather_for_metrics(chosen).mean().item()  # expect: gather-per-metric
        metrics["rejected"] = self.accelerator.gather_for_metrics(rejected).mean().item()  # expect: gather-per-metric
        metrics["loss"] = self.accelerator.gather_for_metrics(loss.detach()).mean().item()  # expect: gather-per-metric
        self.store(metrics)
        return loss


class DistillTrainer:
    """Each of the losses has a collective and a read of its own."""

    def training_step(self, batch):
        hard, soft = self.losses(batch)
        self.log("hard", self.fabric.all_gather(hard).mean().item())  # expect: gather-per-metric
        self.log("soft", self.fabric.all_gather(soft).mean().item())  # expect: gather-per-metric
        return hard + soft


def train(model, loader, optimizer, accelerator):
    for batch in loader:
        loss, correct = model(batch)
        accelerator.backward(loss)
        optimizer.step()
        mean_loss = accelerator.reduce(loss, "mean").item()  # expect: gather-per-metric
        accuracy = accelerator.reduce(correct, "mean").item()  # expect: gather-per-metric
        print(mean_loss, accuracy)
