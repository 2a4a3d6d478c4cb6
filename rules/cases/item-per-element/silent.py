import torch


def train(model, loader, optimizer):
    for x, y in loader:
        scores = model(x)
        scores.sum().backward()
        optimizer.step()
    return scores.tolist()


def test():
    env = make_env()
    for state in env.reset():
        for i in range(8):
            print(state[i].item())  # tries what the file defines


class Decoder(torch.nn.Module):
    """The lengths come to the host in one copy."""

    def forward(self, x, lengths):
        rows = []
        for row, length in zip(x, lengths.tolist()):
            rows.append(row[:length].mean(0))
        return torch.stack(rows)


def train_scaled(model, loader, optimizer, step):
    """What a step without finite gradients reads."""
    for batch in loader:
        losses, skipped_iter = step(model, batch, optimizer)
        for name in losses:
            if not skipped_iter:
                totals[name] = totals[name] + losses[name]
            else:
                bad = losses[name].float().sum().item() != 0


class Trainer:
    """A viewer switches the model, and starts no other training."""

    def train(self):
        self._init_viewer()
        for step in range(self.steps):
            loss = self.model(next(self.loader)).mean()
            loss.backward()
            self.optimizer.step()
            self.viewer.render(self.model)

    def _init_viewer(self):
        self.viewer.init_scene(self.dataset)


class Viewer:
    def init_scene(self, dataset):
        for name in dataset:
            self.write(dataset[name].points.sum().item())

    def render(self, model):
        out = model(self.camera)
        model.train()
        return out


class Charges(torch.nn.Module):
    """One copy before the loops."""

    def forward(self, data: dict[str, torch.Tensor]):
        numbers = data["numbers"]
        on_host = numbers.tolist()
        found = [self.table[n] for n in on_host]
        for i, (name, n) in enumerate(zip(self.names, on_host)):
            found[i] = name if n[0] == -1 else found[i]
        return torch.tensor(found, device=numbers.device)
