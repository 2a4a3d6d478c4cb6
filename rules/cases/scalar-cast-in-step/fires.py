import math

import torch


def train(model, criterion, batches, optimizer):
    history = []
    for x, y in batches:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(float(loss))  # expect: scalar-cast-in-step
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        history.append(float(norm))  # expect: scalar-cast-in-step


def optimize(losses, opt):
    for step in range(10):
        loss = losses.compute(step)
        opt.zero_grad()
        loss.backward()
        opt.step()
        best = float(loss.detach())  # expect: scalar-cast-in-step
    return best


class Gate(torch.nn.Module):
    def skips(self, penalty):
        return not penalty.sum().is_nonzero()  # expect: scalar-cast-in-step

    def forward(self, x):
        same = torch.equal(x.detach(), x.abs())  # expect: scalar-cast-in-step
        near = x.abs().allclose(x)  # expect: scalar-cast-in-step
        return x if self.skips(x) or same or near else -x


def train_with_norms(model, fabric, loader, optimizer):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        fabric.backward(loss)
        norm = float(fabric.clip_gradients(model, optimizer, max_norm=1.0))  # expect: scalar-cast-in-step
        optimizer.step()
        both = torch.tensor([loss, loss.detach()])  # expect: scalar-cast-in-step
        steps = math.log2(loss)  # expect: scalar-cast-in-step
        shared = float(fabric.all_reduce(loss))  # expect: scalar-cast-in-step
    return norm, both, steps, shared


def train_with_an_engine(engine, loader):
    for x, y in loader:
        loss = engine(x, y)
        engine.backward(loss)
        engine.step()
        if math.isnan(loss):  # expect: scalar-cast-in-step
            break


def train_logging_the_last_norm(model, loader, optimizer):
    for step, batch in enumerate(loader):
        model(batch).mean().backward()
        if step > 0:
            log(float(norm))  # expect: scalar-cast-in-step
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def train_with_lengths(model, loader, optimizer):
    for batch, lengths in loader:
        lengths = lengths.to("cuda", non_blocking=True)
        ends = list(map(int, lengths.cumsum(0)))  # expect: scalar-cast-in-step
        model(batch, ends).mean().backward()
        optimizer.step()


class Rollouts:
    def __init__(self, size, device):
        self.rewards = torch.zeros(size, device=device)


class Learner:
    def __init__(self, model, optimizer, device):
        self.model, self.optimizer = model, optimizer
        self.rollouts = Rollouts(64, device)

    def train(self, loader, log):
        for batch in loader:
            self.model(batch).mean().backward()
            self.optimizer.step()
            log["reward"] = float(self.rollouts.rewards.mean())  # expect: scalar-cast-in-step


def accumulate(model, batches, params):
    total, summed = 0.0, None
    for batch in batches:
        loss = model(**batch).loss
        grads = torch.autograd.grad(loss, list(params.values()))
        summed = grads if summed is None else [a + b for a, b in zip(summed, grads)]
        total += float(loss.detach())  # expect: scalar-cast-in-step
    return summed, total


def attribute(model, stream, params):
    return accumulate(model, list(stream), params)


def explain():
    model = torch.nn.Linear(3, 4)
    attribute(model, open_stream(), dict(model.named_parameters()))


explain()


class Watched(transformers.Trainer):
    def training_step(self, model, inputs):
        loss = super().training_step(model, inputs)
        self.losses.append(float(loss))  # expect: scalar-cast-in-step
        return loss


class Plateau:
    def __init__(self, model):
        self.optimizer = torch.optim.Adam(model.parameters())
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer)

    def fit(self, model, loader):
        for x in loader:
            loss = model(x).mean()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step(loss)  # expect: scalar-cast-in-step


def train_scaled(model, loader, optimizer, scheduler, scaler):
    for x in loader:
        loss = model(x).mean()
        scaler.scale(loss).backward()
        before = scaler.get_scale()  # expect: scalar-cast-in-step
        scaler.step(optimizer)
        scaler.update()
        if before <= scaler.get_scale():  # expect: scalar-cast-in-step
            scheduler.step()


def train_parts(model, loader, optimizer):
    for x in loader:
        a, b = model(x).mean(), model(x).std()
        parts = {"mean": a, "spread": b}
        (a + b).backward()
        optimizer.step()
        print(float(parts["mean"]))  # expect: scalar-cast-in-step
        shown = {k: float(v) for k, v in parts.items()}  # expect: scalar-cast-in-step
        named = dict(mean=a, spread=b)
        total = sum(float(v) for v in named.values())  # expect: scalar-cast-in-step
        parts["count"] = len(x)
        yield shown, total
