import deepspeed
from ignite.engine import Engine, Events
from project.compat import torch


def run_pipeline(model, batches):
    engine, _, _, _ = deepspeed.initialize(model=model)
    for step in range(1000):
        loss = engine.train_batch(data_iter=batches)
        print(loss.item())  # expect: item-in-step


def run_events(update, loader):
    trainer = Engine(update)

    @trainer.on(Events.ITERATION_COMPLETED)
    def log(engine):
        print(engine.state.output.item())  # expect: item-in-step

    @trainer.on(Events.ITERATION_COMPLETED(every=100))
    def log_seldom(engine):
        print(engine.state.output.item())

    trainer.run(loader)


def loss_for(trainer):
    def compute_loss(model, inputs, return_outputs=False):
        loss = model(**inputs).loss
        trainer.seen.append(loss.item())  # expect: item-in-step
        return loss

    return compute_loss


def hand_over(trainer):
    trainer.compute_loss = loss_for(trainer)
    trainer.train()


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x / x.abs().max().item()  # expect: item-in-step
