import torch


def scale(tensors, factor):
    for t in tensors:
        t.mul_(factor)


def train(model, loader, mean):
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    for p in model.parameters():
        p.data.mul_(0.5)
    for step, x in enumerate(loader):
        x.mul_(2).sub_(mean)
        model(x).backward()
        optimizer.step()


def load(net, saved):
    for p, s in zip(net.parameters(), saved):
        p.data.copy_(s)


class LossHook:
    def on_step(self, task):
        for name, loss in task.losses.items():
            self.smooth[name] = self.decay * self.smooth[name] + (1 - self.decay) * loss


class Stacked(torch.optim.Optimizer):
    """One tensor for all parameters of a group."""

    def step(self):
        for group in self.param_groups:
            group["momentum"].lerp_(group["gradients"], 0.1)


def smooth(model, loader, optimizer, rate):
    average = 0.0
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        average = rate * average + (1 - rate) * loss.detach()
    return average


class Norm(torch.nn.Module):
    def forward(self, x):
        mean = x.mean(0)
        self.running.data = self.running.data * (1 - self.momentum) + self.momentum * mean
        return x - mean


class Target:
    """Smoothed losses: no parameters."""

    def update_losses(self, losses):
        for kept, loss in zip(self.kept, losses):
            kept.data = self.smooth.update_average(kept.data, loss)


def train_smoothed(model, loader, optimizer, target: Target):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        target.update_losses([loss])


def train_clipped_together(model, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def prune_once(model, masks):
    for name, p in model.named_parameters():
        p.data *= masks[name]


def train_regularised(model, layers, loader, optimizer):
    for x in loader:
        penalty = 0.0
        for out in layers(x):
            penalty = penalty + torch.norm(out, 2)
        penalty.backward()
        optimizer.step()


@jax.jit
def train_step_decayed(params, batch):
    loss = compute_loss(params, batch)
    for leaf in jax.tree_util.tree_leaves(params):  # one compiled program
        loss += (leaf**2).sum()
    return loss


class OneForAll(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            self.update_all(group["flat"], group["grads"], group["average"])

    def update_all(self, flat, grads, average):
        average.mul_(0.9).add_(grads, alpha=0.1)
        flat.add_(average, alpha=-0.1)


def train_on_parts(model, loader, optimizer):
    for x in loader:
        loss = torch.stack([part.norm(2) for part in model(x)]).sum()  # of what it computed; keeps the gradients
        loss.backward()
        optimizer.step()
