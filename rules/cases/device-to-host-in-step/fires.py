import torch


def train(model, loader, optimizer):
    seen = []
    for x, y in loader:
        out = model(x)
        loss = torch.nn.functional.mse_loss(out, y)
        loss.backward()
        optimizer.step()
        seen.append(out.detach().cpu())  # expect: device-to-host-in-step
        seen.extend(out.argmax(-1).tolist())  # expect: device-to-host-in-step
        seen.append(out.to("cpu"))  # expect: device-to-host-in-step


class Reporting(Algorithm):
    def train_step_gen(self, batch, batch_idx):
        loss = self.loss(batch)
        yield loss
        self.reporter.log(loss=loss.detach().cpu())  # expect: device-to-host-in-step

    def train_step_logs(self, outputs):
        return outputs[0]["samples"].tolist()  # expect: device-to-host-in-step


def keep_losses(model, loader, optimizer):
    kept = []
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        kept.append(loss.data.cpu())  # expect: device-to-host-in-step
    return kept


@torch.no_grad()
def run(model, loader, device):
    seen = []
    for images, labels in loader:
        out = model(images.to(device, non_blocking=True))
        seen.append(out.argmax(-1).cpu())  # expect: device-to-host-in-step
    return seen


def collect_scores(model, val_loader):
    scores = []
    with torch.no_grad():
        for batch in val_loader:
            scores.append(model(batch).softmax(-1).cpu())  # expect: device-to-host-in-step
    return scores


def fit_and_watch(model, loader, val_loader, optimizer, device):
    for epoch in range(10):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            optimizer.step()
        run(model, val_loader, device)
        collect_scores(model, val_loader)


class PairwiseLoss(nn.Module):
    def forward(self, embeddings, centroids):
        embeddings = self.project(embeddings.cuda())
        scores = torch.zeros(embeddings.size(0), centroids.size(0))
        for i, embedding in enumerate(embeddings):
            for j in range(centroids.size(0)):
                scores[i][j] = F.cosine_similarity(embedding, embeddings[j], dim=0)  # expect: device-to-host-in-step
        return scores.to(embeddings.device)


class Embedding(torch.nn.Module):
    def forward(self, x, ret_rows=False):
        x = self.table(x)
        return (x, x.cpu()) if ret_rows else x  # expect: device-to-host-in-step


class Retrieval(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = Embedding()

    def forward(self, x):
        return self.embedding(x, ret_rows=True)


class Assigner(nn.Module):
    def forward(self, scores, labels):
        index = torch.zeros([2, *labels.shape], dtype=torch.long)
        index[0] = torch.arange(end=labels.shape[0]).view(-1, 1)
        index[1] = labels.squeeze(-1)  # expect: device-to-host-in-step
        return scores, index


class Kept(nn.Module):
    def forward(self, x):
        self.seen.append(x.numpy(force=True))  # expect: device-to-host-in-step
        return self.layers(x)


def detach_to_cpu(x):
    return x.detach().cpu()  # expect: device-to-host-in-step


def train_kept(model, loader, optimizer, history):
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        history.append(detach_to_cpu(loss))


def train_watched(model, loader, optimizer, writer):
    for at, batch in enumerate(loader):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        for name, p in model.named_parameters():
            writer.add_histogram(name, p, at)  # expect: device-to-host-in-step


def train_scored(model, loader, optimizer, scores):
    for x, y in loader:
        out = model(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        scores.append(accuracy_score(y, out.argmax(1).cpu()))  # expect: device-to-host-in-step


for at in range(3):
    train_watched(make_model(), make_loader(), make_optimizer(), make_writer())
    train_scored(make_model(), make_loader(), make_optimizer(), [])


def train_and_show(model, loader, optimizer, shown, folder):
    for i, x in enumerate(loader):
        loss = model(x.cuda(non_blocking=True)).mean()
        loss.backward()
        optimizer.step()
        values = to_image(loss.detach().cpu())  # expect: device-to-host-in-step
        shown.put(values)
        cv2.imwrite(f"{folder}/{i}.png", x)


def train_with_hooks(trainer, model, writer):
    def log_gradients(epoch, step, loss):
        for parameter in model.parameters():
            writer.add_histogram("grads", parameter.grad.flatten().tolist(), step)  # expect: device-to-host-in-step

    trainer.register_batch_end_hook(log_gradients)
    trainer.run()


class Bouncing(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return (grad_out.mT @ x).to("cpu")  # expect: device-to-host-in-step


class GuidedTrainer:
    def run(self):
        while self.itr < self.iterations:
            for step in range(self.steps):
                obs, reward, done, info = self.env.step(self.actions[step])
            for _ in range(self.batches):
                guided_action = self.model(self.memory.sample())
                for i, at in enumerate(self.chosen):
                    self.kept[at] = guided_action[i].detach().cpu().numpy()  # expect: device-to-host-in-step
                loss = self.model.loss(guided_action)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()


if __name__ == "__main__":
    GuidedTrainer().run()


class Agent:
    def select_action(self, state):
        state = torch.FloatTensor(state.reshape(1, -1)).to(self.device)
        return self.actor(state).cpu().data.numpy().flatten()  # expect: device-to-host-in-step

    def train(self, batch):
        loss = self.critic(batch)
        loss.backward()
        self.optimizer.step()


def explore(agent, env, replay, steps):
    for step in range(steps):
        state = env.step(agent.select_action(state))
        agent.train(replay.sample())


def improve(model, optimizer, samples, limit):
    for sample in samples:
        ratio = torch.exp(model(sample) - sample.old)
        loss = -ratio.mean()
        loss.backward()
        optimizer.step()
        clipped = (abs(ratio - 1.0) > limit).type(torch.FloatTensor).mean()  # expect: device-to-host-in-step
        report(clipped)
