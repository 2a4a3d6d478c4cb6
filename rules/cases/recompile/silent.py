import optax
import torch
from flax import nnx


def build(model, args):
    a = torch.compile(model)
    b = torch.compile(model, dynamic=True)
    c = torch.compile(model, dynamic=args.dynamic)
    d = torch.compile(model, dynamic=False)  # shapes may well stay as they are
    torch._dynamo.mark_static(args.example)
    return a, b, c, d


class Trainer:
    """Sizes that change are said to change; constants are tensors."""

    def __init__(self, model, optimizer):
        self.model = torch.compile(model)
        self.rate = torch.tensor(1e-3)
        self.optimizer = optimizer

    def training_step(self, batch):
        torch._dynamo.mark_dynamic(batch, 1)
        return self.model(batch).mean() * self.rate


def warm_up(compiled, shapes):
    for shape in shapes:
        example = torch.zeros(shape, device="cuda")
        torch._dynamo.maybe_mark_dynamic(example, 0)
        compiled(example)


def fit(model, batches):
    optimizer = nnx.Optimizer(model, optax.adam(1e-3))
    for batch in batches:
        loss, grads = nnx.value_and_grad(loss_fn)(model, batch)
        optimizer.update(model, grads)
    return loss
