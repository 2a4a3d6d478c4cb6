import numpy as np
import scipy.stats
import torch


def train(model, loader, optimizer, path):
    outputs = []
    for step, (x, y) in enumerate(loader):
        out = model(x)
        loss = torch.nn.functional.mse_loss(out, y)
        loss.backward()
        optimizer.step()
        outputs.append(out.detach())
        if step % 1000 == 0:
            save_checkpoint(model, path)
    return torch.cat(outputs).cpu()


def save_checkpoint(model, path):
    torch.save(model.cpu().state_dict(), path)
    state = {k: v.cpu() for k, v in model.state_dict().items()}
    torch.save(state, path)


class Lookup(torch.nn.Module):
    def forward(self, x):
        if "cuda" in str(x.device):
            return self.kernel(x)
        return torch.from_numpy(self.table(x.cpu().numpy()))


class Hash(torch.nn.Module):
    def forward(self, x):
        if "cuda" in str(x.device):
            out = self.kernel(x)
        else:
            out = self.kernel_on_host(x.int().cpu())
        return out


class Student(torch.distributions.Distribution):
    def cdf(self, value):
        return torch.tensor(scipy.stats.t.cdf(value.detach().cpu().numpy(), 3))


class Scores(torch.nn.Module):
    def forward(self, x, as_numpy: bool = False):
        out = self.head(x)
        return self.converted(out, as_numpy)

    def converted(self, out, as_numpy):
        if as_numpy:
            out = out.detach().cpu().numpy()  # the caller wants it there
        return out


class HeavyTail(torch.distributions.Distribution):
    def cdf(self, value):
        return torch.as_tensor(self.scipy_heavy_tail.cdf(value.detach().cpu().numpy()))


class Vocoder(torch.nn.Module):
    def forward(self, mag: torch.Tensor):
        if mag.is_mps:
            mag = mag.cpu()  # has no kernel there
        return torch.istft(mag, 512)


class PostProcessMasks(torch.nn.Module):
    def forward(self, outputs, sizes):
        return (outputs["masks"].sigmoid() > 0.5).cpu()


class Templates(torch.nn.Module):
    def forward(self, batch):
        return self.embed_offloaded(batch)

    def embed_offloaded(self, batch):
        return [self.embed(t).cpu() for t in batch]  # to make room on the device


class Codebook(torch.nn.Module):
    def forward(self, x):
        if not self.initted and self.training:
            self.fill(x)
        return self.quantized(x)

    def fill(self, x):
        self.centers = k_means(x.detach().cpu().numpy())  # with the first batch


def main():
    model, loader = load_all()
    features = []
    with torch.no_grad():
        for batch in loader:
            features.append(model(batch).cpu())  # a program of its own, that trains nothing
    write(features)


class Policy(torch.nn.Module):
    def forward(self, x):
        return self.layers(x)

    def parameters_to_vector(self) -> np.ndarray:
        return torch.nn.utils.parameters_to_vector(self.parameters()).detach().cpu()


def masks_of(found, threshold):
    scores = found.sigmoid()
    return (scores > threshold).cpu().numpy()  # what evaluations hand in may be on the host


def evaluate(model, test_loader, threshold):
    model.eval()
    kept = []
    with torch.no_grad():
        for images, masks in test_loader:
            kept.append(masks_of(masks, threshold))
    return kept


class PairwiseLoss(nn.Module):
    def forward(self, embeddings):
        embeddings = self.project(embeddings.cuda())
        scores = torch.zeros(len(embeddings), device=embeddings.device)
        for i, embedding in enumerate(embeddings):
            scores[i] = embedding.norm()  # both on the device
        return scores


def to_arrays(model, optimizer, loader):
    kept = []
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        kept.append(loss.detach().numpy())  # raises for a tensor of the device: this trains on the CPU
    return kept


class Alignment(torch.nn.Module):
    """Details that nobody asks for."""

    def forward(self, pairs, ret_details=False):
        loss = self.distance(pairs).mean()
        if ret_details:
            return loss, self.distance(pairs).cpu()
        return loss


class Padded(torch.nn.Module):
    def forward(self, x, length):
        factory = {"device": x.device, "dtype": x.dtype}
        out = torch.zeros(len(x), length, **factory)
        out[:, : x.shape[1]] = x  # where the factory says: on the device
        return out


def train_watched_at_times(model, loader, optimizer, writer):
    for at, batch in enumerate(loader):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if at % 500 == 0:
            for name, p in model.named_parameters():
                writer.add_histogram(name, p, at)


def score(model, loader):
    outs, labels = [], []
    for x, y in loader:
        outs.append(model(x).argmax(1))
        labels.append(y)
    return accuracy_score(torch.cat(labels).cpu(), torch.cat(outs).cpu())


for at in range(3):
    train_watched_at_times(make_model(), make_loader(), make_optimizer(), make_writer())
    score(make_model(), make_loader())


def train_and_paint(model, loader, optimizer, folder, paints):
    for i, x in enumerate(loader):
        loss = model(x.cuda(non_blocking=True)).mean()
        loss.backward()
        optimizer.step()
        if paints:
            image = to_image(model.image.cpu())
            cv2.imwrite(f"{folder}/{i}.png", image[..., ::-1])
