import torch
import torch as th


def train(model, data, opt, device):
    for x in data:
        noise = torch.randn(16, 3).to(device)  # expect: create-then-move
        ones = torch.ones(4, device="cpu").cuda()  # expect: create-then-move
        loss = model(x, noise, ones)
        loss.backward()
        opt.step()


class Attention(torch.nn.Module):
    def forward(self, x, lengths):
        steps = th.arange(x.size(1))
        steps = steps.unsqueeze(0).expand(x.size(0), -1)
        steps = steps.to(x.device)  # expect: create-then-move
        bias = torch.zeros(
            x.size(1),
            x.size(1),
        ).to(x.device, x.dtype)  # expect: create-then-move
        return x + bias + steps


class Diffusion:
    def training_step(self, batch, batch_idx):
        t = torch.randint(0, 1000, (batch.shape[0],)).type_as(batch)  # expect: create-then-move
        return self.loss(batch, t)


class Actor(torch.nn.Module):
    def forward(self, state):
        action = self.fc(state)
        if self.variance is None:
            zeros = torch.zeros(action.shape[0]).to(action.device)  # expect: create-then-move
            return action, zeros
        return self.noisy(self._convert_to_ranking(action))

    def _convert_to_ranking(self, action):
        mask = torch.ones(action.shape[0], 1).to(action.device)  # expect: create-then-move
        return action * mask


def length_mask(lengths: torch.Tensor, longest: int):
    return torch.arange(longest)[None, :].to(lengths.device) < lengths[:, None]  # expect: create-then-move


class Lookup(torch.nn.Module):
    def forward(self, coords):
        dy = torch.linspace(-4, 4, 9)
        offsets = torch.stack(torch.meshgrid(dy, dy), dim=-1).to(coords.device)  # expect: create-then-move
        ones = torch.autograd.Variable(torch.ones(coords.size())).to(coords.device)  # expect: create-then-move
        return coords + offsets * ones


def grid(batch, height, width):
    coords = torch.meshgrid(torch.arange(height), torch.arange(width))
    return torch.stack(coords[::-1], dim=0).float()[None].repeat(batch, 1, 1, 1)


class Flow(torch.nn.Module):
    def initialize_flow(self, image):
        n, _, h, w = image.shape
        return grid(n, h, w).to(image.device)  # expect: create-then-move

    def forward(self, image):
        return self.update(self.initialize_flow(image))


class Sized(torch.nn.Module):
    def forward(self, x):
        scores = torch.FloatTensor(x.size(0), 4).fill_(1.0).to(x.device)  # expect: create-then-move
        noise = torch.normal(0.0, 1.0, size=(4,)).to(x.device)  # expect: create-then-move
        ones = torch.ones(4).type(torch.cuda.FloatTensor)  # expect: create-then-move
        return x * ones + scores + noise


class Anchors(torch.nn.Module):
    def forward(self, x):
        cells = x.shape[-1]
        LongTensor = torch.cuda.LongTensor if x.is_cuda else torch.LongTensor
        grid = torch.arange(cells).repeat(cells, 1).type(LongTensor)  # expect: create-then-move
        return x + grid


class LocationAttention(torch.nn.Module):
    def init_attention(self, encoded):
        self.cumulative = torch.zeros(encoded.shape[:2]).cuda()  # expect: create-then-move

    def forward(self, encoded, query, t):
        if t == 0:
            self.init_attention(encoded)
        return self.cumulative * query


def validate(model, val_loader, criterion):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for images, labels in val_loader:
            lam = torch.ones(images.shape[0]).cuda()  # expect: create-then-move
            total = total + criterion(model(images.cuda(non_blocking=True)) * lam, labels)
    return total


class DropLatents(torch.nn.Module):
    def forward(self, x):
        dropped = (torch.rand(x.shape[0]) < self.rate).float()
        dropped = dropped.unsqueeze(-1).to(x.device)  # expect: create-then-move
        return x * (1 - dropped)


def grid(height, width, **where):
    rows = torch.arange(height).to(**where)  # expect: create-then-move
    return rows[:, None] * width + rows[None, :]


class Flow(torch.nn.Module):
    def forward(self, x):
        return x + grid(x.shape[-2], x.shape[-1], device=x.device)


def to_gpu(x):
    if torch.cuda.is_available():
        x = x.cuda()
    return x


class Warp(torch.nn.Module):
    """Whoever hands it a tensor made for that makes it on the host."""

    def forward(self, flow):
        base = to_gpu(torch.zeros(flow.shape[0], 2))  # expect: create-then-move
        return base[:, :, None] + flow


class Speller(torch.nn.Module):
    """Its forward_step() is one of the sequence, not one of training."""

    def forward(self, inputs, memory):
        state = torch.zeros(memory.size(0), 8).to(memory.device)  # expect: create-then-move
        outputs = []
        for t in range(inputs.size(1)):
            out, state = self.forward_step(inputs[:, t], state)
            outputs.append(out)
        return torch.stack(outputs, 1)

    def forward_step(self, token, state):
        state = self.cell(self.embedding(token), state)
        return self.out(state), state


class Lengths(torch.nn.Module):
    def forward(self, x, lengths):
        mask = torch.arange(x.shape[1])[None, :] < lengths.cumsum(0)[:, None]
        return x.masked_fill(mask.to(x.device), 0.0)  # expect: create-then-move


class Blocks(nn.Module):
    def forward(self, q, k, v, lengths):
        if lengths is not None:
            return flash_attn_varlen_func(q, k, v, lengths)
        else:
            mask = torch.ones(q.size(1), k.size(1)).to(q.device)  # expect: create-then-move
            return self.attend(q, k, v, mask)


def grid_targets(boxes, size):
    return torch.zeros(len(boxes), size), torch.zeros(len(boxes), 2)


class GridHead(torch.nn.Module):
    def forward(self, x, boxes):
        from fires import grid_targets as targets_of

        tx, ty = targets_of(boxes, self.size)
        tx = tx.type(torch.cuda.FloatTensor)  # expect: create-then-move
        return x * tx


class Buffer(torch.nn.Module):
    def forward(self, x):
        tokens = torch.LongTensor(size=(1, x.shape[1])).to(x.device)  # expect: create-then-move
        return torch.cat([tokens, x])


class Recurrent(torch.nn.Module):
    def forward(self, x, state: tuple[torch.Tensor, torch.Tensor] | None = None):
        if state:
            h, c = state
        else:
            h = torch.zeros(3, 4)
            c = torch.zeros(3, 4)
        h = h.to(x.device)  # expect: create-then-move
        c = c.to(x.device)  # expect: create-then-move
        return h + c


class Matcher(torch.nn.Module):
    """Without gradients, and a part of the loss."""

    @torch.no_grad()
    def __call__(self, scores):
        offsets = torch.arange(scores.shape[0]).to(scores.device)  # expect: create-then-move
        return scores.argmax(-1) + offsets


class MatchedLoss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.matcher = Matcher()

    def forward(self, scores, targets):
        return F.cross_entropy(scores, targets[self.matcher(scores)])


class Shifted(torch.nn.Module):
    def forward(self, points):
        near = self.embed(points)
        return near + torch.zeros(near.size(0), 3).type_as(near)  # expect: create-then-move


class Attention(torch.nn.Module):
    def forward(self, query, key_padding_mask=None):
        if key_padding_mask.dim() == 0:
            key_padding_mask = None
        none = torch.zeros(key_padding_mask.size(0), 1).type_as(key_padding_mask)  # expect: create-then-move
        return self.attend(query, torch.cat([key_padding_mask, none], dim=1))


class PaddedNet(torch.nn.Module):
    def forward(self, x):
        pad = torch.autograd.Variable(torch.zeros(x.shape[0], x.shape[1], 8)).type(x.type())  # expect: create-then-move
        return torch.cat([x, pad], 2)


class Warp(torch.nn.Module):
    def forward(self, x, flow):
        height, width = x.shape[-2:]
        y_grid, x_grid = torch.meshgrid(torch.arange(height), torch.arange(width))
        grid = torch.stack((x_grid, y_grid), 2).type_as(x)  # expect: create-then-move
        return torch.nn.functional.grid_sample(x, grid + flow)


def train_summed(model, loader, optimizer, device):
    for batch in loader:
        total = torch.zeros([]).to(device)  # expect: create-then-move
        for loss in model(batch):
            total = total + loss
        total.backward()
        optimizer.step()


class NormedLayer(torch.nn.Module):
    def forward(self, x):
        norm = torch.nn.BatchNorm1d(x.size(1)).cuda()  # expect: create-then-move
        return norm(x)
