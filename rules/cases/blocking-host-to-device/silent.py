import torch
from torch.utils.data import DataLoader


def train(model, data, optimizer, device):
    model = model.to(device)
    loader = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
    for x, y in loader:
        x = x.to(device, non_blocking=True)
        y = y.to(device, non_blocking=True).to(torch.float32)
        model(x, y).backward()
        optimizer.step()


class Holder(dict):
    def to(self, device):
        for field in self:
            self[field] = self[field].to(device)
        return self


class Mixer(torch.nn.Module):
    def forward(self, tokens, other):
        return self.mix(tokens.to(other))  # converts to what the other is


def evaluate_answers(model, test_loader, device):
    for batch in test_loader:
        ids = batch["input_ids"].to(device)  # many passes follow
        yield model.generate(input_ids=ids)


class Ranker(torch.nn.Module):
    def forward(self, ids, labels):
        logits = self.head(self.encoder(ids))
        return self.ranking_loss(logits, labels)

    def ranking_loss(self, logits: torch.Tensor, labels):
        labels = labels.to(logits.device)  # there already
        return torch.nn.functional.cross_entropy(logits, labels)


class Offsets(torch.nn.Module):
    def forward(self, points, boxes):
        return self.offsets(points, boxes)

    def offsets(self, points, boxes):
        return torch.cdist(points.cuda(), boxes.to("cuda"))  # nothing says that they are elsewhere


def train_on_pinned_samples(model, loader, opt, device):
    for samples in loader:
        masks = torch.stack([sample["mask"] for sample in samples]).to(device, non_blocking=True)
        kinds = torch.stack([head(masks) for head in model.heads]).to(torch.float32)
        opt.zero_grad()
        kinds.mean().backward()
        opt.step()


def train_prepared(model, loader, optimizer, accelerator):
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        x = batch["x"].to(accelerator.device)  # where the prepared loader has put it
        accelerator.backward(model(x).mean())
        optimizer.step()


class Repeating:
    """What endless iterators over a prepared loader yield is there, too."""

    def __init__(self, model, dl, optim, accelerator):
        self.model, self.dl, self.optim = accelerator.prepare(model, dl, optim)
        self.dl_iter = cycle(self.dl)
        self.accelerator = accelerator

    def train_step(self):
        img = next(self.dl_iter)
        img = img.to(self.accelerator.device)
        self.accelerator.backward(self.model(img))
        self.optim.step()


def get_batch(data, device, device_type):
    x, y = data.draw()
    if device_type == "cuda":
        x, y = x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
    else:
        x, y = x.to(device), y.to(device)
    return x, y


def train_drawn(model, data, optimizer, device, device_type):
    for _ in range(1000):
        x, y = get_batch(data, device, device_type)
        model(x, y).backward()
        optimizer.step()


def train_by_copies(model, optimizer, loader):
    static_images = torch.empty(64, 3, 224, 224, device="cuda")
    for images in loader:
        static_images.copy_(images, non_blocking=True)
        model(static_images).mean().backward()
        optimizer.step()


def train_with_average(model, average, optimizer, loader):
    for images in loader:
        model(images.cuda(non_blocking=True)).mean().backward()
        optimizer.step()
        average.data.copy_(model.weight.data)


def moved(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    return {name: moved(part, device) for name, part in batch.items()}


def on_same_device(x, like):
    if isinstance(x, torch.Tensor):
        x = x.to(like.device)  # is given what the model computed
    return x


def train_moved(model, loader, optimizer, device):
    for batch in loader:
        batch = moved(batch, device)
        loss = model(batch).mean()
        on_same_device(loss, batch).backward()
        optimizer.step()


def train_on_mapped(model, loader, optimizer, device):
    for batch in loader:
        batch = tree_map(lambda x: x.to(device, non_blocking=True), batch)
        scales = tree_map(lambda x, y: x.to(y), batch, model.shapes)
        loss = model(batch, scales)
        loss.backward()
        optimizer.step()


def extract_there(table, t, shape):
    """The table is where the steps are."""
    out = table.gather(-1, t)
    return out.reshape(t.shape[0], *((1,) * (len(shape) - 1))).to(t.device)


class NoisedThere(torch.nn.Module):
    def forward(self, x, t):
        return extract_there(self.alphas, t, x.shape) * x


def train_mapped(model, loader, optimizer, device):
    for batch in loader:
        batch = tree_map(lambda part: part.to(device, non_blocking=True), batch)
        wide = tree_map(lambda part: part.float(), batch)
        model(wide).mean().backward()
        optimizer.step()


def train_on_rays(models, samplers, optimizers, rank):
    for sampler in samplers:
        batch = sampler.random_sample(1024)
        for key in batch:
            if torch.is_tensor(batch[key]):
                batch[key] = batch[key].to(rank, non_blocking=True)
        for model, optimizer in zip(models, optimizers):
            truth = batch["rgb"].to(rank)
            (model(batch["rays"]) - truth).square().mean().backward()
            optimizer.step()


class WindowTrainer:
    def loss_of(self, batch_x):
        batch_x = batch_x.to(self.device, non_blocking=True)
        label = batch_x[:, -8:].to(self.device)  # it is there
        return self.model(batch_x, label).mean()

    def train(self, loader):
        for batch_x in loader:
            loss = self.loss_of(batch_x)
            loss.backward()
            self.optimizer.step()
