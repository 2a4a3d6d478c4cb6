import torch
from torch.nn.utils.clip_grad import clip_grad_norm


@torch.no_grad()
def update_ema(averages, params, decay):
    for a, p in zip(averages, params):
        a.mul_(decay).add_(p, alpha=1 - decay)  # expect: per-tensor-optimizer-loop


class EMA:
    def step(self, parameters):
        for s_param, param in zip(self.shadow_params, parameters):
            s_param.sub_((1 - self.decay) * (s_param - param))  # expect: per-tensor-optimizer-loop


def train(model, ema_params, loader):
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)  # expect: per-tensor-optimizer-loop
    for x in loader:
        model(x).backward()
        optimizer.step()
        update_ema(ema_params, model.parameters(), 0.999)


def update_momentum(model, model_ema, m):
    for model_ema, model in zip(model_ema.parameters(), model.parameters()):
        model_ema.data = model_ema.data * m + model.data * (1.0 - m)  # expect: per-tensor-optimizer-loop


def update_target(net, target, tau):
    for p, t in zip(net.parameters(), target.parameters()):
        t.data.copy_(tau * t.data + (1.0 - tau) * p.data)  # expect: per-tensor-optimizer-loop


def update_critic(net, target, rate):
    for p, t in zip(net.parameters(), target.parameters()):
        t.data.copy_(rate * p.data + (1 - rate) * t.data)  # expect: per-tensor-optimizer-loop


class Momentum(torch.nn.Module):
    @torch.no_grad()
    def follow(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.data = k.data * self.m + q.data * (1.0 - self.m)  # expect: per-tensor-optimizer-loop

    def forward(self, x):
        self.follow()
        return self.query(x)


def descend(model, loader, lr):
    for x, y in loader:
        model.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        for p in model.parameters():
            p.data.add_(p.grad.data, alpha=-lr)  # expect: per-tensor-optimizer-loop


class AverageHook:
    def on_step(self, task):
        for name, param in self.trained(task.model):
            self.state[name] = self.decay * self.state[name] + (1 - self.decay) * param  # expect: per-tensor-optimizer-loop


def follow_quickly(targets, sources, rate):
    torch._foreach_lerp_(targets, sources, rate)


def follow(targets, sources, tau):
    for target, source in zip(targets.parameters(), sources.parameters()):
        target.data.copy_(target.data * (1 - tau) + source.data * tau)  # expect: per-tensor-optimizer-loop


def train_followed(model, average, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        follow(average, model, 0.01)


class ShadowEMA:
    def __init__(self, model, decay):
        self.model, self.decay, self.shadow = model, decay, {}

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                average = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]  # expect: per-tensor-optimizer-loop
                self.shadow[name] = average.clone()


class Scaled:
    def update(self, model):
        states = model.state_dict()
        for name, value in self.ema.state_dict().items():
            if value.dtype.is_floating_point:
                value *= self.decay  # expect: per-tensor-optimizer-loop
                value += (1 - self.decay) * states[name].detach()


def train_averaged(model, loader, optimizer, shadow: Shadow, scaled: Scaled):
    for x, y in loader:
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        shadow.update()
        scaled.update(model)


def train_clipped(model, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        for p in model.parameters():
            p.grad.data.clamp_(-1, 1)  # expect: per-tensor-optimizer-loop
        optimizer.step()
        optimizer.zero_grad()


class Average:
    def __init__(self, beta):
        self.beta = beta

    def update_model_average(self, averaged, model):
        for current, kept in zip(model.parameters(), averaged.parameters()):
            old, new = kept.data, current.data
            kept.data = self.update_average(old, new)  # expect: per-tensor-optimizer-loop

    def update_average(self, old, new):
        return new if old is None else old * self.beta + (1 - self.beta) * new


def train_with_average(model, averaged, loader, optimizer, average: Average):
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        average.update_model_average(averaged, model)


def follow_by_numbers(target, source):
    for t, p in zip(target.parameters(), source.parameters()):
        t.data.copy_(0.01 * p.data + 0.99 * t.data)  # expect: per-tensor-optimizer-loop


def train_with_target(model, target, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        follow_by_numbers(target, model)


def train_critic(critic, loader, optimizer):
    for x in loader:
        critic(x).mean().backward()
        optimizer.step()
        for p in critic.parameters():
            p.data.clamp_(-0.01, 0.01)  # expect: per-tensor-optimizer-loop


def train_pruned(model, masks, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        for name, p in model.named_parameters():
            p.grad *= masks[name]  # expect: per-tensor-optimizer-loop
        optimizer.step()


def train_clipped_alone(model, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        for p in model.parameters():
            torch.nn.utils.clip_grad_norm_(p, 1.0)  # expect: per-tensor-optimizer-loop
        optimizer.step()


def train_decayed(model, loader, optimizer):
    for x in loader:
        penalty = 0.0
        for p in model.parameters():
            penalty = penalty + torch.norm(p, 2)  # expect: per-tensor-optimizer-loop
        (model(x).mean() + 1e-4 * penalty).backward()
        optimizer.step()


def accumulate(average, model, decay=0.999):
    kept = dict(average.named_parameters())
    now = dict(model.named_parameters())
    for name in kept.keys():
        kept[name].data.mul_(decay).add_(now[name].data, alpha=1 - decay)  # expect: per-tensor-optimizer-loop


def average_by_lerp(average, model, beta):
    for ours, theirs in zip(average.parameters(), model.parameters()):
        ours.data.copy_(torch.lerp(theirs.data, ours.data, beta))  # expect: per-tensor-optimizer-loop


def train_averages(model, average, loader, optimizer):
    for x, y in loader:
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        accumulate(average, model)
        average_by_lerp(average, model, 0.99)


class Clipper:
    def step(self):
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                clip_grad_norm(parameter, self.limit)  # expect: per-tensor-optimizer-loop
        self.optimizer.step()


class WeightAverage:
    def update_ema(self, model, decay):
        for key, ema_p in self.state_dict_ema.items():
            model_p = model.state_dict()[key]
            ema_p *= decay  # expect: per-tensor-optimizer-loop
            ema_p += (1.0 - decay) * model_p


def train_with_average(model, average, optimizer, loader):
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_ema(model, 0.99)


class OneByOne(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.update_one(p, p.grad, self.state[p])

    def update_one(self, p, grad, state):
        state["average"].mul_(0.9).add_(grad, alpha=0.1)  # expect: per-tensor-optimizer-loop
        p.addcdiv_(state["average"], state["square"].sqrt(), value=-0.1)


def total_norm(model):
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    return torch.stack([g.norm(2) for g in grads]).norm(2)  # expect: per-tensor-optimizer-loop


def train_watched(model, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        total_norm(model)
        optimizer.step()


class Shadow:
    def __init__(self, model):
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.held = {name: weakref.ref(p) for name, p in model.named_parameters()}

    def update(self, decay):
        for name, held in self.held.items():
            self.shadow[name] += (1 - decay) * (held().data - self.shadow[name])  # expect: per-tensor-optimizer-loop


class GeneratorTrainer:
    def average(self, model, target, beta):
        for param, slow in zip(model.parameters(), target.parameters()):
            slow.data = torch.lerp(param.data, slow.data, beta)  # expect: per-tensor-optimizer-loop

    def train_step(self, batch):
        self.model(batch).mean().backward()
        self.optimizer.step()
        self.average(self.model, self.target, 0.999)
