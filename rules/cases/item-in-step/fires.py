import torch
import torch.nn.functional as F


def train_one_epoch(model, loader, optimizer, device):
    running = 0.0
    for images, labels in loader:
        images = images.to(device, non_blocking=True)
        labels = labels.to(device, non_blocking=True)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()  # expect: item-in-step
    return running / len(loader)


def accuracy(output, target):
    return (output.argmax(-1) == target).float().mean().item()  # expect: item-in-step


class Trainer:
    def training_step(self, batch):
        loss = self.compute_loss(batch)
        self.log("loss", loss.detach().cpu().item())  # expect: item-in-step
        return loss

    def fit(self, data, opt):
        for batch in data:
            loss = self.training_step(batch)
            loss.backward()
            opt.step()
            if loss.item() != loss.item():  # expect: item-in-step
                break
            accuracy(self.model(batch), batch)


def train_with_a_name_of_a_module(model, objective, loader, optimizer):
    from project import loss

    for batch in loader:
        loss, parts = objective(model(batch), batch)
        loss.backward()
        optimizer.step()
        print(loss.item())  # expect: item-in-step


def largest_feature(feature: torch.Tensor, as_numpy):
    if as_numpy:
        feature = feature.cpu().numpy()
    return feature.max().item()  # expect: item-in-step


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.limit = x.abs().max().item()  # expect: item-in-step
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * gradient.norm().item()  # expect: item-in-step


class DistillationLossFn:
    def __call__(self, student, teacher):
        loss, kl = self.compare(student, teacher)
        return loss, {"loss": loss.item(), "kl": kl.item()}  # expect: item-in-step


class Ppo:
    def learn(self):
        for batch in self.train_dataloader:
            for _ in range(self.updates):
                loss = self.loss(batch)
                loss.backward()
                self.opt.step()
            self.after_batch_of_updates()

    def after_batch_of_updates(self):
        self.controller.update(self.mean_kl.item())  # expect: item-in-step


def evaluate_batches(model, data, device):
    total = 0.0
    for x, y in data:
        loss = torch.nn.functional.mse_loss(model(x), y)
        total += loss.item()  # expect: item-in-step
    return total


def collect_and_train(collector, model, optimizer, updates):
    for i, frames in enumerate(collector):
        for j in range(updates):
            losses = model(frames)
            losses.mean().backward()
            optimizer.step()
        log(losses.mean().item())  # expect: item-in-step


class Checked(torch.nn.Module):
    def forward(self, x):
        y = self.layer(x)
        if bool(y.isnan().any().item()):  # expect: item-in-step
            y = y * 0
        return y


class WithHelper(torch.nn.Module):
    def prepare(self, x):
        def scale(t):
            return t * 2

        return scale(x)

    def forward(self, x):
        return self.layer(x)[: x.shape[0]] * self.layer(x).mean().item()  # expect: item-in-step


class ActionPolicy(nn.Module):
    def forward(self, batch, reduction="mean"):
        wanted = batch.get("predict_actions")
        if wanted is not None and not wanted.any().item():  # expect: item-in-step
            return self.text_loss(batch)
        return self.head(batch["state"]).mean()


class RoundTrainer:
    def training_step(self, prompts):
        return self.fit_round(self.rank(prompts))

    def fit_round(self, loader):
        for batch in loader:
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            self.total += loss.item()  # expect: item-in-step


class TrainMetrics(torch.nn.Module):
    def forward(self, predicted, wanted, detailed: bool):
        self.error(predicted, wanted)
        if detailed:
            return {"error": self.error.compute().item()}  # expect: item-in-step
        return {}


class GivenPast(torch.nn.Module):
    def forward(self, x, mask=None):
        if mask is not None:
            x = x[:, self.scale(x).max().item() :]  # expect: item-in-step
        return self.head(x)


def train_on(model, optimizer, replay):
    seen = 0
    for i in range(len(replay)):
        image, wanted = replay[i]
        model(image.cuda()).mean().backward()
        optimizer.step()
        seen += wanted.view(-1).sum().item()  # expect: item-in-step
    return seen


def train_full_batches(model, loader, optimizer):
    def closure():
        optimizer.zero_grad()
        total = torch.zeros((), device="cuda")
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            total += loss.detach()
        return total.item()  # expect: item-in-step

    for _ in range(1000):
        optimizer.step(closure)


def scaled(x, how="mean"):
    if how == "number":
        return x * x.sum().item()  # expect: item-in-step
    return x


def train_scaled(model, loader, optimizer):
    for x, y in loader:
        loss = scaled(model(x, y)) + scaled(model(x, y), how="number")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Packed(torch.nn.Module):
    def forward(self, x, mask):
        if not torch.compiler.is_compiling():
            longest = mask.sum(-1).max().item()  # expect: item-in-step
            x = x[:, :longest]
        return x


class Ranker(torch.nn.Module):
    def forward(self, scores):
        targets = torch.arange(scores.shape[0], out=scores.new_empty(scores.shape[0]).long())
        self.right += (scores.argmax(1) == targets).sum().item()  # expect: item-in-step
        return scores


def packed_loss(logits, offsets):
    action_count = int((offsets[1:] - offsets[:-1]).sum().item())  # expect: item-in-step
    return logits[:action_count].mean()


def train_packed(model, loader, optimizer):
    for tokens, offsets in loader:
        loss = packed_loss(model(tokens), offsets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def averaged(value, ranks):
    shared = value.clone()
    torch.distributed.all_reduce(shared)
    shared /= ranks
    return shared


def train_ranks(model, loader, optimizer, ranks):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(averaged(loss, ranks).item())  # expect: item-in-step


def accumulate(model, batches, params):
    total, summed = 0.0, None
    for batch in batches:
        loss = model(**batch).loss
        grads = torch.autograd.grad(loss, list(params.values()))
        summed = grads if summed is None else [a + b for a, b in zip(summed, grads)]
        total += loss.item() / len(batches)  # expect: item-in-step
    return summed, total


def attribute(model, loader, params):
    return accumulate(model, list(loader), params)


class Meter:
    def process(self, state):
        raise NotImplementedError


class Smoothed(Meter):
    def process(self, state):
        self.total += state["loss"].sum().item()  # expect: item-in-step


class MeterGroup(Meter):
    def process(self, state):
        return [meter.process(state) for meter in self.meters]


class Lines:
    def process(self, state):
        return [line.split() for line in state]


def train_with_state(state, loader):
    for state["x"] in loader:
        state["loss"] = state["model"](state["x"])
        state["loss"].backward()
        state["optimizer"].step()
        state["meter_group"].process(state)


def train_and_tell(model, loader, optimizer, told_from, logger):
    for step, x in enumerate(loader):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        logger.warning("step %d: %f", step, loss.item())  # expect: item-in-step
        if step >= told_from:
            print(loss.item())  # expect: item-in-step


class Classifier(pl.LightningModule):
    def validation_step(self, batch, batch_idx):
        images, labels = batch
        logits = self.net(images)
        hits = (logits.argmax(1) == labels).float().mean()
        self.meter.add(hits.item())  # expect: item-in-step
        return hits


def policy_metrics(model, batches, optimizer):
    for batch in batches:
        entropy = 0.0
        for head in model.heads(batch):
            entropy += Categorical(head).entropy().mean()
        loss = model.loss(batch) - entropy
        loss.backward()
        optimizer.step()
        log({"entropy": entropy.item()})  # expect: item-in-step


def assert_centred(x, mask):
    assert (x * (1 - mask)).abs().max().item() < 1e-4  # expect: item-in-step
    largest = x.abs().max().item()  # expect: item-in-step
    assert x.sum(1).abs().max().item() < 1e-2 * largest  # expect: item-in-step


def train_checked(model, loader, optimizer):
    for x, mask in loader:
        assert_centred(x, mask)
        loss = model(x * mask)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


class Fitted:
    """The same method in the loop that fits."""

    def forward_model(self, batch):
        loss = self.net(batch.x).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def fit(self, loader):
        total = 0.0
        for batch in loader:
            total += self.forward_model(batch).item()  # expect: item-in-step
        return total


class Now:
    """Its counter begins anew every few steps."""

    def act(self, state, model):
        self.step = (self.step + 1) % 4
        if self.step == 0:
            self.learn_from(state, model)

    def learn_from(self, inputs, model):
        loss = model(inputs).mean()
        loss.backward()
        self.optimizer.step()
        self.last = loss.item()  # expect: item-in-step


SHOWS_LOSS = False


def show_losses():
    global SHOWS_LOSS
    SHOWS_LOSS = True


def train_shown(model, loader, optimizer):
    for x, y in loader:
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        if SHOWS_LOSS:
            print(loss.item())  # expect: item-in-step


class Frames:
    def __init__(self, device):
        self.current = torch.tensor(0, device=device)

    @property
    def in_test_set(self):
        return self.current.item() in self.held_out  # expect: item-in-step

    def train(self, loader):
        for batch in loader:
            if self.in_test_set:
                continue
            self.model(batch).mean().backward()
            self.optimizer.step()


def reinforce(policy, optimizer, env, episodes):
    for _ in range(episodes):
        state, log_probs = env.reset(), []
        for _ in range(1000):
            chances = torch.distributions.Categorical(policy(state), validate_args=False)
            choice = chances.sample()
            log_probs.append(chances.log_prob(choice))
            state, reward, done, _ = env.step(choice.item())  # expect: item-in-step
            if done:
                break
        loss = -torch.cat(log_probs).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
