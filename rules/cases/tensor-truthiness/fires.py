from typing import NamedTuple, Optional

import numpy as np
import pytorch_lightning as pl
import torch


def train(model, loader, optimizer):
    for x, y in loader:
        loss = model(x, y)
        if torch.isnan(loss):  # expect: tensor-truthiness
            continue
        loss.backward()
        if not torch.isfinite(loss).all():  # expect: tensor-truthiness
            raise RuntimeError("diverged")
        optimizer.step()


class Attend(torch.nn.Module):
    def forward(self, q, mask):
        empty = ~mask.any(dim=-1)
        if empty.any():  # expect: tensor-truthiness
            q = q.masked_fill(empty[..., None], 0.0)
        return q if q.abs().max() < 10 else q.clamp(-10, 10)  # expect: tensor-truthiness


class Stats(NamedTuple):
    kl: torch.Tensor
    steps: int = 0


class PolicyLoss(torch.nn.Module):
    def forward(self, ratio, mask: Optional[torch.BoolTensor], lengths, stats):
        count = mask.count_nonzero() or 1  # expect: tensor-truthiness
        if stats.kl > 0.1:  # expect: tensor-truthiness
            ratio = ratio.clamp(0.9, 1.1)
        if lengths.max() > 512:  # expect: tensor-truthiness
            ratio = ratio[:, :512]
        return (ratio * mask).sum() / count


class Counted(torch.nn.Module):
    def forward(self, logits, labels):
        positive = labels > 0
        count = positive.sum()
        scale = max(count, 1)  # expect: tensor-truthiness
        top = min(2.0, logits.abs().max())  # expect: tensor-truthiness
        return logits.sum() / scale * top


class Worst(torch.nn.Module):
    def forward(self, logits, labels):
        losses = [logits.sum(), (logits - labels).abs().mean()]
        worst = max(losses)  # expect: tensor-truthiness
        if any(loss > 3 for loss in losses):  # expect: tensor-truthiness
            return worst
        return sorted(losses)[0]  # expect: tensor-truthiness


def train_checked(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)  # expect: tensor-truthiness
        optimizer.step()


class Average(torch.nn.Module):
    """An average of weights that counts its updates in a buffer."""

    def __init__(self, decay):
        super().__init__()
        self.register_buffer("decay", torch.tensor(decay))
        self.register_buffer("num_updates", torch.tensor(0))

    def forward(self, weights):
        decay = self.decay
        if self.num_updates >= 0:  # expect: tensor-truthiness
            self.num_updates += 1
            decay = min(decay, (1 + self.num_updates) / (10 + self.num_updates))  # expect: tensor-truthiness
        return weights * decay


class Masked(torch.nn.Module):
    def forward(self, x, attention_mask):
        if 0 in attention_mask:  # expect: tensor-truthiness
            x = x * attention_mask
        return x


def train_graphs(model, loader, optimizer, device):
    for batch in loader:
        batch = batch.to(device, non_blocking=True)
        if batch.x.shape[0] == 1 or batch.batch[-1] == 0:  # expect: tensor-truthiness
            continue
        model(batch).mean().backward()
        optimizer.step()


def bounded(x):
    return x.clamp(-3, 3)


def with_linear_tails(x):
    inside = (x >= -3) & (x <= 3)
    if torch.any(inside):  # expect: tensor-truthiness
        x = torch.where(inside, bounded(x), x)
    return x


class Spline(torch.nn.Module):
    def forward(self, x):
        spline = bounded if self.tails is None else with_linear_tails
        return spline(x)


def clip_by_spread(model, loader, optimizer):
    for batch in loader:
        model(batch).mean().backward()
        spread = [p.detach() for p in model.parameters() if p.requires_grad and p.std() > 0]  # expect: tensor-truthiness
        torch.nn.utils.clip_grad_value_(spread, 1.0)
        optimizer.step()


def whiten(x, mask: torch.Tensor):
    count = mask.sum()
    if count == 0:  # expect: tensor-truthiness
        raise ValueError("nothing to whiten")
    return x / count


def optimise(trainer, dataloader, epochs, minibatches):
    """Several epochs over what each batch of prompts gave: the batch's own work is in steps, too."""
    for prompts in dataloader:
        prompts = prompts.to("cuda", non_blocking=True)
        advantages = whiten(trainer.advantages(prompts), prompts != 0)
        for _ in range(epochs):
            for part in range(minibatches):
                trainer.loss(prompts, advantages, part).backward()
                trainer.optimizer.step()


def masked_mean(x, lengths):
    if lengths.max() > x.size(1):  # expect: tensor-truthiness
        x = x[:, :1]
    return x.sum() / lengths.sum()


def is_nan(loss):
    return torch.isnan(loss).any()


def has_labels(labels):
    return (labels != -100).sum()


def train_packed(model, loader, optimizer, max_norm):
    for batch in loader:
        x, y, lengths = [part.to("cuda", non_blocking=True) for part in batch]
        loss = masked_mean(model(x), lengths)
        if is_nan(loss):  # expect: tensor-truthiness
            continue
        labelled = has_labels(y)
        if labelled == 0:  # expect: tensor-truthiness
            continue
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if norm > max_norm:  # expect: tensor-truthiness
            optimizer.zero_grad()
        optimizer.step()


class Placeholders(torch.nn.Module):
    def forward(self, token_ids, images, kinds):
        n_places = (token_ids == 7).sum()
        if n_places != images.shape[0]:  # expect: tensor-truthiness
            images = images[:1]
        if kinds[0].sum() > 0:  # expect: tensor-truthiness
            return self.embed(images)
        return images


class Branches(torch.nn.Module):
    def forward(self, x, kinds):
        kinds = kinds.to("cuda", non_blocking=True)
        if any(kinds > 3):  # expect: tensor-truthiness
            x = self.rare(x)
        if kinds[0] in (1, 2):  # expect: tensor-truthiness
            x = self.first(x)
        return x


class Scaled(torch.nn.Module):
    def forward(self, x):
        scale = torch.exp(x).mean()
        if torch.is_tensor(scale):
            x = scale * x
        if scale > 2:  # expect: tensor-truthiness
            return x
        return scale * x


class Poses(torch.nn.Module):
    def forward(self, x):
        known = self.memory.poses
        if known[:, 0].sum() == 0:  # expect: tensor-truthiness
            return x
        return x + known[:, None, :].mean()


class Anomalies(torch.nn.Module):
    def forward(self, x, anomalies=True):
        x = self.experts(x)
        if anomalies and not (x > 0).all():  # expect: tensor-truthiness
            return x.relu()
        return x


def train_with_queue(model, loader, optimizer, always, queue: torch.Tensor):
    for x in loader:
        out = model(x.cuda(non_blocking=True))
        if always or not torch.all(queue[-1] == 0):  # expect: tensor-truthiness
            out = torch.cat([queue @ model.prototypes, out])
        loss = out.logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Scaled(torch.nn.Module):
    def forward(self, x):
        batch, length, width, scale = *x.shape, torch.amax(x)
        if scale > 0:  # expect: tensor-truthiness
            x = x / scale
        return x


class Refined(torch.nn.Module):
    def forward(self, text):
        return self.stepwise_forward(text)

    def stepwise_forward(self, text):
        out = self.first(text)
        for layer in self.layers:
            out = layer(out)
            if (out > 0.5).all():  # expect: tensor-truthiness
                return out
        return out


class Policy(torch.nn.Module):
    def evaluate_actions(self, states: torch.Tensor, actions: torch.Tensor):
        """Of the actions that were taken: what each update begins with."""
        mean = self.net(states)
        if torch.any(torch.isnan(mean)):  # expect: tensor-truthiness
            print("mean", mean)
        return torch.distributions.Normal(mean, 1, validate_args=False).log_prob(actions)


def update(policy: Policy, optimizer, buffer):
    for states, actions, advantages in buffer:
        loss = -(policy.evaluate_actions(states, actions) * advantages).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Bonds(torch.nn.Module):
    def forward(self, features, is_atom):
        atoms = torch.where(is_atom)[0]
        ends, starts = torch.where(features == 6)
        inside = [i for i in ends if i in atoms]  # expect: tensor-truthiness
        if starts[0] not in atoms:  # expect: tensor-truthiness
            inside = inside[1:]
        return features[inside]


class PoseLoss(torch.nn.Module):
    def forward(self, predicted, batch):
        scores, chosen = self.assigner(predicted, batch)
        loss = scores.sum()
        for i in range(scores.shape[0]):
            if chosen[i].sum():  # expect: tensor-truthiness
                loss = loss + scores[i].mean()
        return loss


class MaskedChoice:
    def __init__(self, logits, mask):
        if isinstance(mask, np.ndarray):
            mask = torch.from_numpy(mask)
        self.mask = mask.bool()
        if not self.mask.any(dim=-1).all():  # expect: tensor-truthiness
            self.mask = torch.ones_like(self.mask)
        self.logits = logits.masked_fill(~self.mask, -1e9)


def train_choices(net, loader, optimizer, device):
    for batch in loader:
        masks = batch["masks"].to(device, non_blocking=True)
        choice = MaskedChoice(net(batch["obs"]), masks)
        choice.logits.logsumexp(-1).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


class MaskedPolicy(ActorCriticPolicy):
    def evaluate_actions(self, obs, actions):  # of stable-baselines3, for each minibatch
        features = self.extract_features(obs)
        if torch.isnan(features).any():  # expect: tensor-truthiness
            raise ValueError("no numbers")
        return self.value_net(features)


def train_found(model, loader, optimizer):
    for x, y in loader:
        loss = model(x, y).mean()
        if not bool(torch.isfinite(loss).all()):  # expect: tensor-truthiness
            continue
        loss.backward()
        optimizer.step()


class Pipeline:
    def progress(self, batch):
        losses = self.model(batch)
        assert_on_all(not torch.isnan(losses).any(), "no number")  # expect: tensor-truthiness
        losses.sum().backward()
        self.optimizer.step()


class LatentTrainer(pl.LightningModule):
    def __init__(self):
        self.register_buffer("seen", torch.tensor(False))

    def training_step(self, batch, index):
        loss = self.model(batch).mean()
        if not self.seen:  # expect: tensor-truthiness
            self.seen.fill_(True)
        return loss


class PowerModule(LightningModule):
    def training_step(self, batch, batch_idx):
        return self.validation_step(batch, batch_idx)

    def validation_step(self, batch, batch_idx):
        loss = self.model(batch).square().mean()
        if loss.isfinite().all():  # expect: tensor-truthiness
            self.total = loss
        return loss


class Vocabulary(torch.nn.Module):
    def forward(self, tokens):
        if any(tokens >= self.table.shape[0]):  # expect: tensor-truthiness
            tokens = tokens.clamp(max=self.table.shape[0] - 1)
        return self.table[tokens]


class Clipped(torch.distributions.Distribution):
    def log_prob(self, value):
        chance = torch.where(value == 1, self.log_p, self.log_q)
        if torch.isnan(chance).any():  # expect: tensor-truthiness
            warn("not a number")
        return chance


class Decoder(nn.Module):
    def forward(self, states, end):
        last = self.start(states).argmax(-1)
        for _ in range(64):
            unfinished = last != end
            if not any(unfinished):  # expect: tensor-truthiness
                break
            last = self.step(states, last).argmax(-1)
        return last
