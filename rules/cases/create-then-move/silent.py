import torch


class Embed(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("ids", torch.arange(n).to("cuda"))
        self.lens = torch.arange(n)

    def forward(self, x):
        steps = torch.arange(x.size(1), device=x.device)
        mask = torch.zeros(x.size(1)).to(torch.bool)
        more = torch.zeros(8, pin_memory=True).to(x.device, non_blocking=True)
        self.lens = self.lens.to(x.device)
        return x + steps.to(x.dtype) + more + mask.numel()


def train(model, data, opt, device):
    hidden = torch.zeros(1, 8).to(device)
    for x in data:
        noise = torch.randn_like(x).to(torch.float16)
        loss = model(x, noise, hidden)
        loss.backward()
        opt.step()


def sample_grid(n):
    return torch.rand(n, 3)


class Table(torch.nn.Module):
    def forward(self, x):
        if self.table is None:
            self.table = torch.zeros(x.shape[0]).to(x.device)
        return x + self.table


class Given(torch.nn.Module):
    def forward(self, x, mean, spread):
        weights = torch.FloatTensor([0.5, 2.0]).to(x.device)
        drawn = torch.normal(mean, spread).to(x.device)
        ones = torch.ones(4, device=x.device).type(torch.cuda.FloatTensor)
        return x * ones + drawn + weights.sum()


class Positions(torch.nn.Module):
    """The table is made again when an input is longer than all before."""

    def __init__(self):
        super().__init__()
        self.table = None

    def extend(self, x):
        if self.table is not None:
            if self.table.size(1) >= x.size(1):
                if self.table.dtype != x.dtype:
                    self.table = self.table.to(x.dtype)
                return
        table = torch.arange(x.size(1)).float()
        self.table = table.unsqueeze(0).to(device=x.device, dtype=x.dtype)

    def forward(self, x):
        self.extend(x)
        return x + self.table[:, : x.size(1)]


class Crops(nn.Module):
    def forward(self, crops):
        out = torch.empty(0).to(crops[0].device)  # nothing in it
        for crop in crops:
            out = torch.cat((out, self.backbone(crop)))
        return self.head(out)


def sample_steps(x, steps, model):
    with torch.no_grad():
        for i in reversed(steps):
            t = (torch.ones(x.shape[0]) * i).to(x.device)  # next to a pass of the model
            x = x - model(x, t)
    return x


class Positions(torch.nn.Module):
    def forward(self, x):
        factory = {"device": x.device, "dtype": torch.long}
        return self.table(torch.arange(x.shape[1], **factory).to(x.device))  # there already


class Flash(nn.Module):
    def forward(self, q, k, v):
        use_flash = self.flash and q.size(1) == k.size(1)
        if use_flash:
            return flash_attn_func(q, k, v, causal=True)
        else:
            mask = torch.ones(q.size(1), k.size(1)).to(q.device)  # where the kernel is missing
            return self.attend(q, k, v, mask)


class Given(torch.nn.Module):
    def forward(self, x, state: tuple[torch.Tensor, torch.Tensor] | None = None):
        if state:
            h, c = state
        else:
            h = torch.zeros(3, 4, device=x.device)
            c = torch.zeros(3, 4, device=x.device)
        return h.to(x.device) + c.to(x.device)


class ConditionalPipeline(Pipeline):
    """Samples of a trained model, which its autoencoder hands out."""

    @torch.no_grad()
    def __call__(self, condition, size):
        image = torch.randn(condition.shape[0], 3, size, size).to(condition.device)
        for t in self.scheduler.timesteps:
            image = self.scheduler.step(self.model(image, t, condition), t, image)
        return image


class Autoencoder(torch.nn.Module):
    def forward(self, x):
        return ConditionalPipeline(self.decoder, self.scheduler)(self.encode(x), x.shape[-1])


def train_on_moved_points(model, loader, optimizer, device):
    """The coordinates are still where the loader has put them."""
    for coords, features, target in loader:
        coords[:, 1:] += (torch.rand(3) * 100).type_as(coords)
        points = sparse(features, coords).to(device)
        (model(points) - target.to(device)).square().mean().backward()
        optimizer.step()


class Linear(torch.nn.Module):
    def forward(self, x):
        return x @ self.effective_weight().T


class Butterfly(Linear):
    """Has a forward pass of its own: only who looks at the weights asks for them as a whole."""

    def effective_weight(self):
        return self.factors(torch.eye(self.width).to(self.device))

    def forward(self, x):
        return self.factors(x)

    def draw(self, axis):
        axis.imshow(self.effective_weight().cpu())


class Dropped(torch.nn.Module):
    """The parts of a sparse tensor are where that is."""

    def forward(self, graph, kept):
        index, values = graph._indices()[:, kept], graph._values()[kept]
        return torch.sparse.FloatTensor(index, values, graph.shape).to(self.device)


class KeptLayer(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(n).cuda()

    def forward(self, x):
        return self.norm(x)
