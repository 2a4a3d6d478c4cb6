import torch


def ema(params, averages, decay: torch.Tensor):
    for p, a in zip(params, averages):
        a.add_(p, alpha=1 - decay)  # expect: tensor-scalar-argument


class Mixer(torch.nn.Module):
    def forward(self, x, y, gate: torch.Tensor):
        out = torch.add(x, y, alpha=gate)  # expect: tensor-scalar-argument
        return torch.sub(out, y, alpha=gate)  # expect: tensor-scalar-argument


def train(model, averages, data, opt, decay: torch.Tensor):
    for batch in data:
        loss = model(batch)
        loss.backward()
        opt.step()
        ema(model.parameters(), averages, decay)


class Filled(torch.nn.Module):
    def forward(self, x):
        top = x.abs().max()
        return x + torch.full((3,), top, device=x.device)  # expect: tensor-scalar-argument


class Attention(torch.nn.Module):
    def forward(self, x, mask):
        scores = self.qk(x)
        scores = scores.masked_fill(mask, scores.min())  # expect: tensor-scalar-argument
        return scores.index_fill(1, self.padding, scores.mean())  # expect: tensor-scalar-argument
