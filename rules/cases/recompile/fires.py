import optax
import torch
from flax import nnx
from torch._dynamo import mark_static


def train(model, loader, optimizer):
    for x in loader:
        torch._dynamo.mark_static(x)  # expect: recompile
        model(x).backward()
        optimizer.step()


class Trainer:
    def training_step(self, batch, batch_idx):
        tokens, lengths = batch
        mark_static(tokens, 1)  # expect: recompile
        return self.model(tokens, lengths).mean()


def fit(model, batches, optimizer):
    for ids, labels in batches:
        for part in (ids, labels):
            torch._dynamo.mark_static(part)  # expect: recompile
        loss = model(ids, labels)
        loss.backward()
        optimizer.step()


class Learner:
    """A new optimizer for each batch: what was compiled with the last one is compiled again."""

    def reset(self):
        model = nnx.merge(self.graph, self.first)
        return model, nnx.Optimizer(model, optax.adam(1e-3))  # expect: recompile

    def fit(self, batches):
        for batch in batches:
            model, optimizer = self.reset()
            loss, grads = nnx.value_and_grad(self.loss)(model, batch)
            optimizer.update(model, grads)
