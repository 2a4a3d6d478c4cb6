import numpy as np
import torch


class Loss(torch.nn.Module):
    def forward(self, x, y):
        weight = torch.tensor([0.1, 0.9], device=x.device)  # expect: host-constant-to-device
        scale = torch.tensor(2.0).to(x.device)  # expect: host-constant-to-device
        return (weight * (x - y) ** 2).mean() * scale


def clip(parameters, limit):
    total = torch.tensor([0], dtype=torch.float, device="cuda")  # expect: host-constant-to-device
    for p in parameters:
        total += p.grad.norm()
    return torch.where(total > limit, limit / total, torch.tensor(1.0, device=total.device))  # expect: host-constant-to-device


def train(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        clip(model.parameters(), 1.0)
        optimizer.step()
        empty = torch.FloatTensor([0]).cuda()  # expect: host-constant-to-device


class AnchorSampler:
    def __call__(self, boxes):
        return boxes * torch.tensor([1.0, 0.5], device=boxes.device)  # expect: host-constant-to-device


class Schedule:
    def sample(self, batch, device):
        picked = self.pick(batch)
        return torch.from_numpy(picked).to(device)  # expect: host-constant-to-device


def fit_steps(model, loader, optimizer, schedule, device):
    for images in loader:
        steps = schedule.sample(len(images), device)
        model.loss(images, steps).backward()
        optimizer.step()


class Critic:
    def estimate(self, state):
        return self.critic(torch.FloatTensor(state.reshape(1, -1)).to(self.device))  # expect: host-constant-to-device

    def train(self, batch):
        loss = self.critic(batch)
        loss.backward()
        self.optimizer.step()


def improve(agent: Critic, env, replay, steps):
    for step in range(steps):
        replay.add(agent.estimate(env.state))
        agent.train(replay.sample())


def attend(model, x, scale=None):
    if scale is None:
        scale = torch.tensor([0.5, 0.25], device=x.device)  # expect: host-constant-to-device
    return model(x * scale)


def fit_attending(model, loader, optimizer):
    for x in loader:
        loss = attend(model, x).mean()
        loss.backward()
        optimizer.step()


def gradient_penalty(critic, real, weights):
    weights = torch.tensor([1.0, 2.0]).cuda()  # expect: host-constant-to-device
    return (critic(real) * weights).mean()


def adversarial(critic, loader, optimizer):
    for step, real in enumerate(loader):
        loss = critic(real).mean()
        penalise = step % 4 == 0
        if penalise:
            loss = loss + gradient_penalty(critic, real, None)
        loss.backward()
        optimizer.step()


class QLearner:
    def learn(self, memory):
        states, actions = memory.sample(32)
        actions = torch.from_numpy(actions).to("cuda")  # expect: host-constant-to-device
        loss = self.q(states).gather(1, actions).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class WeightedLoss(torch.nn.Module):
    def forward(self, logits, segment, weights):
        if weights is not None:
            scale = weights
        else:
            scale = torch.tensor([0.5, 2.0], device=logits.device)  # expect: host-constant-to-device
        return (self.criterion(logits, segment) * scale).mean()


class Targets(torch.nn.Module):
    def forward(self, predictions, targets):
        gain = torch.ones(7, device=targets.device)
        for p in predictions:
            gain[2:6] = torch.tensor(p.shape)[[3, 2, 3, 2]]  # expect: host-constant-to-device
            targets = targets * gain
        return targets


Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor


def train_gan(generator, discriminator, loader, optimizer):
    for images, _ in loader:
        noise = Tensor(np.random.normal(0, 1, (images.shape[0], 100)))  # expect: host-constant-to-device
        weights = Tensor([w / len(images) for w in generator.weights])  # expect: host-constant-to-device
        loss = (discriminator(generator(noise)) * weights).mean()
        loss.backward()
        optimizer.step()


psnr = lambda error: -10.0 * torch.log(error) / torch.log(torch.Tensor([10.0]).cuda())  # expect: host-constant-to-device


def fit(model, optimizer, rays):
    for step in range(1000):
        error = model(rays).mean()
        quality = psnr(error)
        error.backward()
        optimizer.step()


class Corners(torch.nn.Module):
    def forward(self, x, wide):
        if wide:
            r = torch.zeros(4, 4, device=x.device)
        else:
            r = torch.ones(4, 4, device=x.device)
        r[1] = torch.tensor([0.0, 1.0, 2.0, 3.0])  # expect: host-constant-to-device
        return r


class World:
    """What a comprehension binds is another variable in the next one."""

    def train(self, data):
        data = {k: torch.tensor(v, device=self.device) for k, v in data.items()}  # expect: host-constant-to-device
        loss = self.net(data).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {k: v.detach() for k, v in self.net.losses.items()}


class ReplayMemory:
    def sample_transitions(self, n):
        chosen = self.transitions(n)
        action = torch.tensor([t.action for t in chosen], device=self.device)  # expect: host-constant-to-device
        return action


def update(memory, model, optimizer):
    for _ in range(100):
        loss = model(memory.sample_transitions(32))
        loss.backward()
        optimizer.step()


class Weighted(torch.nn.Module):
    def forward(self, x):
        dev = x.device
        return x * torch.tensor([0.2, 0.8], device=dev)  # expect: host-constant-to-device


class Norms(torch.nn.Module):
    def forward(self, x, known):
        norm = (x.norm() if known else torch.tensor(0.0)).to(x.device)  # expect: host-constant-to-device
        return x / norm


class Thinned(torch.nn.Module):
    def forward(self, x, borders):
        kept, count = [], 0
        for start, end in zip(borders, borders[1:]):
            count += int(end - start) // 4
            kept.append(count)
        return x[: count], torch.cuda.IntTensor(kept)  # expect: host-constant-to-device


class EitherLoss(torch.nn.Module):
    def forward(self, x, kind):
        if kind == 0:
            return torch.tensor(0.0).to(x)  # expect: host-constant-to-device
        return x.sum() / kind


def train_on_rewards(model, episodes, tokens, device, optimizer):
    for start in range(0, len(episodes), 4):
        advantages = [e.reward for e in episodes[start:start + 4]]
        advantages = torch.tensor(advantages, device=device)  # expect: host-constant-to-device
        loss = (model(tokens) * advantages[:, None]).mean()
        loss.backward()
        optimizer.step()


class Cavity(torch.nn.Module):
    def forward(self, energy: torch.Tensor):
        placed = {"device": self.length.device, "dtype": self.length.dtype}
        eta = torch.tensor(1.0, **placed)  # expect: host-constant-to-device
        return eta * energy


class Policy(torch.nn.Module):
    def forward(self, x, masks):
        return self.apply_masks(x, masks)

    def apply_masks(self, actions, masks):
        fill = torch.tensor(-1e9, device=actions.device)  # expect: host-constant-to-device
        return torch.where(masks, actions, fill)


def check(value):
    return torch.from_numpy(value) if type(value) == np.ndarray else value


class Learner:
    def __init__(self, device=torch.device("cpu")):
        self.tpdv = dict(dtype=torch.float32, device=device)

    def update(self, sample):
        observations, advantages = sample
        advantages = check(advantages).to(**self.tpdv)  # expect: host-constant-to-device
        loss = (self.policy(observations) * advantages).mean()
        loss.backward()
        self.optimizer.step()


class MaskedLoss(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return torch.where(x > 0, x, x.new([0.5]))  # expect: host-constant-to-device


class Agent:
    def select_action(self, state):
        state = torch.FloatTensor(state.reshape(1, -1)).to(self.device)  # expect: host-constant-to-device
        return self.actor(state).cpu().data.numpy().flatten()

    def train(self, batch):
        loss = self.critic(batch)
        loss.backward()
        self.optimizer.step()


def explore(agent, env, replay, steps):
    for step in range(steps):
        state = env.step(agent.select_action(state))
        agent.train(replay.sample())


def collect(policy, envs, buffer, optimizer):
    for update in range(100):
        obs, rewards, dones, infos = envs.step(policy(buffer))
        masks = torch.tensor([[not done] for done in dones], device="cuda")  # expect: host-constant-to-device
        loss = policy.loss(buffer, masks)
        loss.backward()
        optimizer.step()


class Discrete:
    def explore(self, state):
        state = torch.ByteTensor(state[None, ...]).to(self.device).float() / 255.0  # expect: host-constant-to-device
        return self.policy.sample(state)

    def train_episode(self):
        state = self.env.reset()
        for _ in range(100):
            action = self.explore(state)
            state, reward, done, _ = self.env.step(action)
            self.learn()

    def learn(self):
        loss = self.policy.loss(self.memory.sample())
        loss.backward()
        self.optimizer.step()
