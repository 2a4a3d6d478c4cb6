import torch


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.tensor([0.1, 0.9]))
        self.cached = {}

    def forward(self, x, y, rank):
        zero = torch.zeros((), device=x.device)
        one = torch.full((), 2.0, dtype=x.dtype, device=x.device)
        index = torch.tensor([rank, 3], device="cpu", pin_memory=True).cuda(non_blocking=True)
        if x.shape not in self.cached:
            self.cached[x.shape] = torch.tensor([1.0, 2.0], device=x.device)
        as_float = torch.tensor([1, 2]).to(torch.float32)
        return (self.weight * (x - y) ** 2).mean() + zero + one + index.sum() + as_float.numel()


def main(model, loader, optimizer):
    mean = torch.tensor([0.5, 0.4, 0.3], device="cuda")
    for x in loader:
        model(x - mean).backward()
        optimizer.step()


class Joint(torch.nn.Module):
    def forward(self, x, context=None):
        tokens = torch.cat((x, context if context is not None else torch.tensor([], device=x.device)))
        return self.blocks(tokens)


def log_ratio(a, b):
    a, b = [v if isinstance(v, torch.Tensor) else torch.tensor(v).to(a.device) for v in (a, b)]
    return a - b


class Ratio(torch.nn.Module):
    def forward(self, x):
        return log_ratio(x, self.layer(x))


class Schedule:
    def sample(self, batch, device):
        picked = self.pick(batch)
        return torch.from_numpy(picked).to(device)  # no call has its arguments


def fit_latents(model, loader, optimizer):
    for images in loader:
        latents = model.encode(images).latent_dist.sample()
        model.loss(latents).backward()
        optimizer.step()


class Probe:
    def split(self, data):
        return torch.from_numpy(data).to(self.device)  # once, before the epochs

    def fit(self, data, epochs):
        held = self.split(data)
        for epoch in range(epochs):
            self.train_epoch(held)

    def train_epoch(self, held):
        for batch in self.batches(held):
            self.model(batch).backward()
            self.optimizer.step()


class Layer(torch.nn.Module):
    def prune_params(self, keep):
        keep = torch.tensor(keep).to(self.weight.device)
        self.weight = self.weight[keep]


class Bart(torch.nn.Module):
    @property
    def dummy_inputs(self):
        return torch.tensor([[0, 6, 10, 4, 2]], device=self.device)  # to try the model with


def attend_scaled(model, x, scale=None):
    if scale is None:
        scale = torch.tensor([0.5, 0.25], device=x.device)
    return model(x * scale)


def attend_masked(model, x, mask=None):
    if mask is None:
        mask = torch.tensor([True, False]).to(x.device)
    return model(x * mask)


def fit_scaled(model, loader, optimizer, scale, kept):
    for x in loader:
        loss = attend_scaled(model, x, scale).mean() + attend_masked(model, x, mask=kept).mean()
        loss = loss + attend_scaled(model, x).mean()  # one of two
        loss.backward()
        optimizer.step()


def summed(model, loader, optimizer):
    for batch in loader:
        terms = []
        for head in model.heads:
            terms.append(head(batch).mean())
        loss = torch.stack(terms).sum() if terms else torch.tensor(0.0, device="cuda")  # for none
        loss.backward()
        optimizer.step()


class SegmentLoss(torch.nn.Module):
    def forward(self, logits, segment):
        if segment.max() >= 0:
            return self.criterion(logits, segment)
        else:
            return torch.tensor(0.0, requires_grad=True, device=logits.device)  # nothing is labelled


Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor


def train_discriminator(discriminator, loader, optimizer):
    for images, _ in loader:
        valid = Tensor(images.size(0), 1).fill_(1.0)
        loss = (discriminator(images) - valid).abs().mean()
        loss.backward()
        optimizer.step()


class Preferences:
    def loss(self, chosen, rejected):
        if rejected.shape[0] == 0:
            rejected = torch.tensor([]).to(chosen.device)  # nothing to copy
        return chosen.mean() - rejected.mean()

    def fit(self, loader, optimizer):
        for chosen, rejected in loader:
            self.loss(chosen, rejected).backward()
            optimizer.step()


class Sampler:
    def __collect(self, obs):
        for _ in range(self.horizon):
            action = self.net(obs)
            obs, reward, done, _ = self.envs.step(action)
            reward = torch.tensor(reward).to(self.device)
            self.memory.add(obs, action, reward, done)

    def set_weights(self, weights):
        self.weights = weights
        self.scale = torch.tensor(weights).to(self.device)


class UNet(torch.nn.Module):
    def forward(self, sample, timesteps):
        if not torch.is_tensor(timesteps):  # whoever trains hands a tensor in
            timesteps = torch.tensor([timesteps], device=sample.device)
        return self.body(sample, timesteps)


def frame_of(x):
    return torch.eye(3, device=x.device).repeat(4, 1, 1)


class Frames(torch.nn.Module):
    def forward(self, x, kind):
        if kind == 1:
            r = frame_of(x)
        elif kind == 2:
            r = torch.zeros(12, 3)
            r[1] = torch.tensor([0.0, 1.0, 2.0])  # in this branch r is on the host
        else:
            r = torch.zeros(12, 3)
            r[2] = torch.tensor([0.0, 1.0, 2.0])
        return r


class Empty(torch.nn.Module):
    def forward(self, x):
        shape = x.shape
        return torch.cuda.FloatTensor(shape), torch.cuda.FloatTensor(shape[0], 4)


class FirstNorms(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            if "norms" not in group:
                norms = [p.grad.norm().item() for p in group["params"]]
                group["norms"] = torch.cuda.FloatTensor(norms)  # in the first step only
            torch._foreach_div_([p.grad for p in group["params"]], group["norms"].max())


class Logged(torch.nn.Module):
    def forward(self, x):
        logs = self.layers(x).copy()
        logs["share"] = torch.tensor(self.share)  # a record: it stays on the host
        return logs


class FiniteLoss(torch.nn.Module):
    def forward(self, x):
        num_finite = torch.isfinite(x).float().sum()
        if num_finite != 0:
            return x.sum() / num_finite
        else:
            return torch.tensor(0.0).to(x)  # of a batch without one


class MaskedLoss(torch.nn.Module):
    def forward(self, x, mask):
        return (
            (x * mask).sum() / mask.sum()
            if mask.any()
            else torch.tensor(
                0.0, device=x.device, dtype=x.dtype
            )
        )


class CountedLoss(torch.nn.Module):
    def forward(self, x, num_valid):
        if num_valid == 0:
            return torch.tensor(0.0, device=x.device)
        return x.sum() / num_valid


def mask_tokens(inputs: torch.Tensor, tokenizer):
    masked = torch.bernoulli(torch.full(inputs.shape, 0.15)).bool()
    inputs[masked] = torch.randint(len(tokenizer), inputs.shape)[masked]  # the batch is moved later
    return inputs


def pretrain(model, loader, tokenizer, optimizer, device):
    for batch in loader:
        inputs = mask_tokens(batch, tokenizer).to(device, non_blocking=True)
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()


class NoGradients(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad):
        return grad, torch.FloatTensor().to(ctx.place)  # of no elements


class Cavity(torch.nn.Module):
    def forward(self, energy: torch.Tensor):
        kind = {"dtype": self.length.dtype}
        return torch.tensor(1.0, **kind) * energy  # on the host: a number to the device
