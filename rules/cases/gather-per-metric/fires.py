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
