from tqdm import tqdm
import torch
from torch import nn
from torch.utils.data import DataLoader


def train(model, data, optimizer, device):
    loader = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
    for x, y in loader:
        x = x.to(device)  # expect: blocking-host-to-device
        y = y.cuda()  # expect: blocking-host-to-device
        model(x, y).backward()
        optimizer.step()
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}  # expect: blocking-host-to-device
        model(**batch).backward()
        optimizer.step()


def to_device(tree, device):
    return tree_map(lambda leaf: leaf.to(device), tree)  # expect: blocking-host-to-device


def fit(model, optimizer, dataloader, device):
    with tqdm(enumerate(iter(dataloader)), desc="train") as bar:
        for step, batch in bar:
            clip = batch.pop("video").to(device, torch.float16)  # expect: blocking-host-to-device
            model(clip).backward()
            optimizer.step()


class Strategy(SupervisedTemplate):
    def unpack(self):
        mbatch = self.mbatch
        for i in range(len(mbatch)):
            mbatch[i] = mbatch[i].to(self.device)  # expect: blocking-host-to-device


def run_epoch(model, progress, optimizer, device):
    for index, sources in enumerate(progress):
        sources = sources.to(device)  # expect: blocking-host-to-device
        loss = model(sources).mean()
        loss.backward()
        optimizer.step()


def fit_from(model, dl_iter, optimizer, device):
    while True:
        wave, = next(dl_iter)
        wave = wave.to(device)  # expect: blocking-host-to-device
        model(wave).mean().backward()
        optimizer.step()


class SampleBatch(dict):
    def to(self, device):
        for field in self:
            self[field] = self[field].to(device)  # expect: blocking-host-to-device
        return self


def evaluate_labels(model, test_loader, device):
    for batch in test_loader:
        ids = batch["input_ids"].to(device)  # expect: blocking-host-to-device
        yield model(ids)


def fit_prepared(model, train_loader, optimizer):
    for step, data in enumerate(train_loader):
        stops = data[3]
        stops = stops.view(stops.size(0), -1)
        stops = (stops.sum(1) > 0.0).unsqueeze(1).float()
        images = data[0] / 255
        stops = stops.cuda()  # expect: blocking-host-to-device
        images = images.to("cuda")  # expect: blocking-host-to-device
        both = torch.cat((data[1], data[2]))
        both = both.cuda()  # expect: blocking-host-to-device
        loss = model(images, both, stops).mean()
        loss.backward()
        optimizer.step()


class PointLoss(nn.Module):
    def forward(self, points, boxes):
        inside, offsets = [], []
        for i in range(len(boxes)):
            near = self.offsets(points[i].cpu(), boxes[i].detach().cpu())
            offsets.append(near)
        return torch.stack(offsets).sum()

    def offsets(self, points, boxes):
        points = points.cuda()  # expect: blocking-host-to-device
        return torch.cdist(points, boxes.cuda())  # expect: blocking-host-to-device


def fit_boosted(model, dataset, optimizer, booster, device, dtype):
    loader = DataLoader(dataset, num_workers=4)
    model, optimizer, _, loader, _ = booster.boost(model, optimizer, dataloader=loader)
    for step, batch in enumerate(loader):
        video = batch.pop("video").to(device, dtype)  # expect: blocking-host-to-device
        loss = model(video).mean()
        booster.backward(loss=loss, optimizer=optimizer)
        optimizer.step()


class GraphBatch:
    def __init__(self, lengths: list[torch.Tensor]):
        self.lengths: list[torch.Tensor] = lengths

    def to_device(self, device):
        self.lengths = [t.to(device) for t in self.lengths]  # expect: blocking-host-to-device
        self.coordinates = self.coordinates.to(device)  # expect: blocking-host-to-device


def fit_graphs(model, graphs, optimizer, device):
    for graph in iter(graphs):
        graph.to_device(device)
        model(graph).sum().backward()
        optimizer.step()


def get_batch(tokens, size, device):
    starts = torch.randint(len(tokens) - size, (8,))
    x = torch.stack([tokens[i : i + size] for i in starts])
    y = torch.stack([tokens[i + 1 : i + 1 + size] for i in starts])
    x, y = x.to(device), y.to(device)  # expect: blocking-host-to-device
    return x, y


def pretrain(model, tokens, optimizer, device):
    while True:
        x, y = get_batch(tokens, 128, device)
        model(x, y).backward()
        optimizer.step()


def train_gan(discriminator, loader, optimizer):
    Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
    for images, _ in loader:
        real = images.type(Tensor)  # expect: blocking-host-to-device
        discriminator(real).mean().backward()
        optimizer.step()


def run(model, optimizer, train_loader, test_loader, args):
    for epoch in range(args.epochs):
        train_epoch(model, optimizer, train_loader)
        with torch.no_grad():
            for images, labels in test_loader:
                images = images.cuda()  # expect: blocking-host-to-device
                right = model(images).argmax(1) == labels.to(images.device)  # expect: blocking-host-to-device


def train_epoch(model, optimizer, train_loader):
    for images, labels in train_loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def splat(model, optimizer, cameras):
    for step in range(30000):
        camera = cameras[step % len(cameras)]
        rendered = model(camera.pose)
        loss = (rendered - camera.original_image.cuda()).abs().mean()  # expect: blocking-host-to-device
        loss.backward()
        optimizer.step()


def slice_batch(batch, rank):
    return {k: v.to(rank) if torch.is_tensor(v) else v for k, v in batch.items()}  # expect: blocking-host-to-device


def encode(texts, tokenizer):
    tokens = tokenizer(texts, return_tensors="pt", padding=True)
    return tokens.input_ids.cuda()  # expect: blocking-host-to-device


def tune(model, optimizer, loader, tokenizer, rank):
    for batch in loader:
        loss = model(encode(batch["text"], tokenizer), **slice_batch(batch, rank)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_on_samples(model, loader, opt, device):
    for samples in loader:
        masks = torch.stack([sample["mask"] for sample in samples], dim=0).to(device)  # expect: blocking-host-to-device
        tokens = torch.cat([sample["tokens"] for sample in samples]).to(device=device)  # expect: blocking-host-to-device
        loss = model(masks, tokens).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


from dataclasses import dataclass


@dataclass
class Samples:
    image: torch.Tensor

    def to(self, device):
        self.image = self.image.to(device)  # expect: blocking-host-to-device
        return self


def train_on_records(model, loader, optimizer):
    for samples in loader:
        samples.to("cuda")  # expect: blocking-host-to-device
        model(samples.image).mean().backward()
        optimizer.step()


class DiffusionLoop:
    """Each step takes what next() gives, and moves it part by part."""

    def run_loop(self):
        while self.step < self.steps:
            batch, cond = next(self.data)
            self.run_step(batch, cond)

    def run_step(self, batch, cond):
        self.opt.zero_grad()
        for i in range(0, batch.shape[0], self.microbatch):
            micro = batch[i : i + self.microbatch].to("cuda")  # expect: blocking-host-to-device
            rest = {k: v[i : i + self.microbatch].to("cuda") for k, v in cond.items()}  # expect: blocking-host-to-device
            self.model(micro, **rest).mean().backward()
        self.opt.step()


class PlainLoop:
    def run(self):
        taken = iter(self.data)
        for _ in range(self.steps):
            x, y = next(taken)
            self.step(x, y)

    def step(self, x, y):
        y = y.cuda()  # expect: blocking-host-to-device
        self.model(x[:8].cuda(), y).mean().backward()  # expect: blocking-host-to-device
        self.opt.step()


def train_on_both(model, labeled_loader, unlabeled_loader, optimizer, device):
    """Iterators that begin anew, of programs from before Python 3."""
    labeled_iter = iter(labeled_loader)
    unlabeled_iter = iter(unlabeled_loader)
    for _ in range(1000):
        try:
            inputs_x, targets = labeled_iter.next()
        except StopIteration:
            labeled_iter = iter(labeled_loader)
            inputs_x, targets = labeled_iter.next()
        (inputs_w, inputs_s), _ = unlabeled_iter.next()
        inputs = torch.cat((inputs_x, inputs_w, inputs_s)).to(device)  # expect: blocking-host-to-device
        loss = model(inputs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_by_copies(model, optimizer, loader):
    static_images = torch.empty(64, 3, 224, 224, device="cuda")
    for images in loader:
        static_images.copy_(images)  # expect: blocking-host-to-device
        model(static_images).mean().backward()
        optimizer.step()


def train_by_replay_of_drawn(model, optimizer, loader):
    noise = torch.empty(64, 16, device="cuda")
    for images in loader:
        noise.copy_(torch.from_numpy(draw_noise()))  # expect: blocking-host-to-device
        model(images.cuda(non_blocking=True), noise).mean().backward()
        optimizer.step()


def moved(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)  # expect: blocking-host-to-device
    return {name: moved(part, device) for name, part in batch.items()}


def train_moved(model, loader, optimizer, device):
    for batch in loader:
        batch = moved(batch, device)
        model(batch).mean().backward()
        optimizer.step()


class Memory:
    def sample(self, indices):
        return torch.stack([self.rows[i] for i in indices]).cuda()  # expect: blocking-host-to-device


def train_from_memory(model, memory: Memory, optimizer):
    for indices in memory.batches():
        model(memory.sample(indices)).mean().backward()
        optimizer.step()


def placed(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)  # expect: blocking-host-to-device
    if isinstance(batch, dict):
        return {name: part.to(device) for name, part in batch.items()}  # expect: blocking-host-to-device
    return batch


def train_placed(model, loader, optimizer, device):
    for batch in loader:
        loss = model(placed(batch, device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_on_trees(model, loader, optimizer, device):
    for batch in loader:
        batch = tree_map(lambda x: x.to(device), batch)  # expect: blocking-host-to-device
        loss = model(batch)
        loss.backward()
        optimizer.step()


def train_on_records(model, loader, optimizer, device):
    for batch in loader:
        batch.apply_(lambda x: x.cuda())  # expect: blocking-host-to-device
        batch = apply_to_tensors(batch, lambda x: x.cuda())  # expect: blocking-host-to-device
        loss = model(batch)
        loss.backward()
        optimizer.step()


class Workload:
    def input_queue(self, split):
        source = iter(self.dataset(split))
        for batch in source:
            yield {"inputs": batch["inputs"].to(DEVICE)}  # expect: blocking-host-to-device

    def evaluate(self, split):
        self.queues[split] = self.input_queue(split)
        return self.score(self.queues[split])


def extract(table, t, shape):
    out = table.gather(-1, t.cpu())
    return out.reshape(t.shape[0], *((1,) * (len(shape) - 1))).to(t.device)  # expect: blocking-host-to-device


class Noised(nn.Module):
    def forward(self, x, t):
        return extract(self.alphas, t, x.shape) * x


def train_mapped(model, loader, optimizer, device):
    for batch in loader:
        batch = tree_map(lambda part: part.to(device), batch)  # expect: blocking-host-to-device
        model(batch).mean().backward()
        optimizer.step()


def train_on_some_rays(models, samplers, optimizers, rank):
    for sampler in samplers:
        batch = sampler.random_sample(1024)
        for key in ("rays", "depths"):
            batch[key] = batch[key].to(rank)  # expect: blocking-host-to-device
        for model, optimizer in zip(models, optimizers):
            truth = batch["rgb"].to(rank)  # expect: blocking-host-to-device
            (model(batch["rays"]) - truth).square().mean().backward()
            optimizer.step()


class Learner:
    def train_step(self, state, prob):
        state = state.to(self.device)  # expect: blocking-host-to-device
        loss = (self.model(state) - prob.to(self.device)).square().mean()  # expect: blocking-host-to-device
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class KeyedTrainer:
    def loss_of(self, batch):
        tokens = batch["tokens"]
        tokens = tokens.to(self.device)  # expect: blocking-host-to-device
        return self.model(tokens).mean()

    def train(self, loader):
        for batch in loader:
            loss = self.loss_of(batch)
            loss.backward()
            self.optimizer.step()


class Detector(torch.nn.Module):
    def forward(self, batched_inputs):
        return self.net([x["image"].to(self.device) for x in batched_inputs])  # expect: blocking-host-to-device


def unwrapped(model):
    return model.module if isinstance(model, torch.nn.DataParallel) else model
