import enum
import torch


class Attend(torch.nn.Module):
    def forward(self, x, mask=None, causal=False):
        if mask is not None and x.shape[0] > 1:
            x = torch.where(mask, x, 0.0)
        if causal or self.training:
            x = x.tril()
        if x.requires_grad and torch.is_grad_enabled() and not torch.jit.is_scripting():
            x = x * 2
        if x.size(1) % 2 == 0 and len(x) > 4:
            x = x[:, ::2]
        return x


class Options(NamedTuple):
    kl: float
    mask: torch.Tensor
    steps: int = 0


class Scale(torch.nn.Module):
    def forward(self, x, options, name=None):
        name = name or self.name
        steps = options.steps or 1
        if options.kl > 0.1:
            x = x * steps
        return self.layers[name](x)


class Aspects(torch.nn.Module):
    def forward(self, docs):
        found = self.extract(docs)
        if sum(found, []) == []:
            return found
        return self.score(found)


class Fused(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if type_of(x) == quantized.LinearReLU:
            return self.fused(x)
        if x.untyped_storage_bytesize() != x.bytesize():
            return self.view(x)
        return x


class CountedOnDevice(torch.nn.Module):
    def forward(self, logits, labels, limit=4):
        count = (labels > 0).sum().clamp(min=1)
        width = max(logits.shape[0], 1)
        depth = min(limit, len(labels))
        high = max([logits.shape[0], logits.shape[1]])
        return logits.sum() / count * width * depth * high


class WorstOnDevice(torch.nn.Module):
    def forward(self, logits, labels, sizes):
        losses = [logits.sum(), (logits - labels).abs().mean()]
        longest = max(len(s) for s in sizes)
        learns = any(p.requires_grad for p in self.parameters())
        return torch.stack(losses).max() * longest * learns * max(sizes)


def train_unchecked(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=False)
        optimizer.step()


class Lookup(torch.nn.Module):
    def __init__(self, levels, steps):
        super().__init__()
        self.levels, self.num_steps = levels, steps

    def forward(self, x):
        out = {"seg": self.head(x)}
        if "seg" in out and 3 in self.levels:
            x = x + out["seg"]
        if self.num_steps > 0:
            x = x / self.num_steps
        return x


def train_graphs(model, loader, optimizer, device):
    for batch in loader:
        batch = batch.to(device, non_blocking=True)
        if batch.num_graphs == 1:
            continue
        model(batch).mean().backward()
        optimizer.step()


class Layer(flax.linen.Module):
    @flax.linen.compact
    def __call__(self, x):
        with jax.ensure_compile_time_eval():
            assert abs(self.activation(0.0)) < 1e-6
        return self.activation(jax.numpy.tanh(x))


def clip_all(model, loader, optimizer):
    for batch in loader:
        model(batch).mean().backward()
        trained = [p for p in model.parameters() if p.requires_grad and p.dim() > 0]
        torch.nn.utils.clip_grad_value_(trained, 1.0)
        optimizer.step()


def forward_step(batches, model, ratio):
    chosen = 0
    if ratio > 0:
        chosen = torch.cuda.LongTensor([1])
        torch.distributed.broadcast(chosen, 0)
        chosen = chosen.item()
    if chosen:  # a number in either case
        return model(batches[1])
    return model(batches[0])


def train_chosen(model, loader, optimizer):
    for batches in loader:
        forward_step(batches, model, 0.5).backward()
        optimizer.step()


ENFORCE_CONTRACTS = bool(os.environ.get("CONTRACTS"))


class Variation(torch.nn.Module):
    def forward(self, image: torch.Tensor, mask: torch.Tensor):
        if ENFORCE_CONTRACTS and not ((mask == 0) | (mask == 1)).all():
            raise ValueError("the mask is not binary")
        return (image * mask).sum()


class Padding(enum.Enum):
    NONE = 0


def padding_of(batch):
    return batch["padding"]


def smooth_l1(difference: torch.Tensor, beta, padding):
    if padding == Padding.NONE:
        return difference
    if beta < 1e-5:  # a parameter is mostly a number
        return difference.abs()
    return torch.where(difference < beta, difference**2, difference.abs())


def train_padded(model, loader, optimizer, num_params):
    for batch in loader:
        batch = {name: part.to("cuda", non_blocking=True) for name, part in batch.items()}
        loss = smooth_l1(model(batch), torch.tensor(0.1), padding_of(batch))
        loss.mean().backward()
        if num_params > 10:
            optimizer.step()


class Modes(torch.nn.Module):
    def forward(self, x, modes: list, sizes):
        if modes[0] in (1, 2) or x.shape[0] in (1, 2):
            return self.first(x)
        if x.dtype in (torch.half, torch.bfloat16) or any(size > 3 for size in x.shape):
            return self.second(x)
        return x


class Scaled(torch.nn.Module):
    def loss(self, x, scale):
        y = torch.exp(x).mean()
        if torch.is_tensor(scale):
            return scale * y
        if scale > 2:  # a number, by now
            return y
        return max(0.0, scale) * y

    def forward(self, x):
        return self.loss(x, x.mean())


def train_sorted(model, loader, optimizer):
    for batch in loader:
        named = {name: value.cuda(non_blocking=True) for name, value in batch.items()}
        largest = max([v for v in named.values()], key=lambda v: v.numel())
        ordered = [value for name, value in sorted(named.items())]
        loss = model(largest, ordered).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Sharded(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            params = group["params"]
            for first in range(len(params))[:: self.world_size]:
                if first + self.rank < len(params):
                    params[first + self.rank].add_(params[first + self.rank].grad, alpha=-group["lr"])


class Rows(torch.nn.Module):
    def forward(self, x):
        known = self.memory.rows
        if known[1:].count(0) == 0:  # a list has one axis
            return x
        return x * len(known)


class Convolution(torch.nn.Module):
    """Whether a graph has edges of a kind is known without its values."""

    def forward(self, graph, features):
        graph = graph.to(features["user"].device)
        out = {}
        for kind in graph.canonical_etypes:
            if graph.num_edges(kind) == 0 or graph.number_of_dst_nodes(kind[2]) == 0:
                continue
            out[kind] = self.layers[str(kind)](graph[kind], features[kind[0]])
        return out


def train_watched(model, loader, optimizer, itr=0):
    while itr < 1000:
        loss = model(next(loader)).mean()
        loss.backward()
        if itr == 0:
            if torch.isnan(loss):  # of the first step alone
                raise RuntimeError("NaN in the first batch")
        optimizer.step()
        itr += 1


class Collected(torch.nn.Module):
    def forward(self, x, detect_anomalies=True):
        x = self.experts(x)
        if detect_anomalies and not x.isfinite().all():
            raise ValueError("an expert's output is no number")
        return x


def train_with_queue(model, loader, optimizer, queue):
    filled = False
    for x in loader:
        out = model(x.cuda(non_blocking=True))
        if filled or not torch.all(queue[-1] == 0):  # until the queue is full
            filled = True
            out = torch.cat([queue.cuda() @ model.prototypes, out])
        loss = out.logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Windows(torch.nn.Module):
    def forward(self, x):
        batch, length, width, scale = *x.shape, torch.amax(x)
        if length > 4:
            x = x[:, :4]
        return x / scale


class Spoken(torch.nn.Module):
    def forward(self, text, frames=None):
        if frames is None:
            return self.incremental_forward(text)
        return self.decode_all(text, frames)

    def incremental_forward(self, text):
        out = [self.first(text)]
        while True:
            out.append(self.next(out[-1]))
            if (out[-1] > 0.5).all():  # speaks: training gives the frames
                return out


class Padded(torch.nn.Module):
    def pad(self, x, verify=False):
        padded = torch.nn.functional.pad(x, (0, 4))
        if verify:
            self.check(x, padded)
        return padded

    def check(self, x, padded):
        assert (x == padded[..., :-4]).all()  # nobody asks for it

    def forward(self, x):
        return self.pad(x)


def train_on_reports(model, loader, optimizer, log):
    for images in loader:
        output = model(images.cuda(non_blocking=True))
        if output == -1:  # nothing was detected: no tensors
            log.skipped += 1
            continue
        output[0].mean().backward()
        optimizer.step()


def train_guarded(model, loader, optimizer, guard):
    for x, y in loader:
        loss = model(x, y)
        safe_to_backward = guard.check(loss)
        if not safe_to_backward:
            for p in model.parameters():
                if torch.isnan(p.grad).any():  # seldom
                    print("no number")
            continue
        loss.backward()
        optimizer.step()


class Tables:
    def training_step(self, batch):
        gpu_id = self.controller.training_gpu_id
        table = self.tables[gpu_id.device]
        for other in self.tables.values():
            if other.gpu_id != gpu_id:  # which device, no tensor
                table = other
        return table.train(batch)


class CheckedOnDemand:
    def progress(self, batch):
        losses = self.model(batch)
        if self._assert_nan_loss:
            assert_on_all(not torch.isnan(losses).any(), "no number")
        ready = not batch.is_empty()
        losses.sum().backward()
        self.optimizer.step()
        return ready


class Shapes(torch.nn.Module):
    def forward(self, x):
        if any(side > self.limit for side in x.shape) or all([self.wide, self.deep]):
            x = x[..., : self.limit]
        return x * 2


class Fusion(nn.Module):
    def forward(self, inputs: dict[str, torch.Tensor], names: list[str]) -> torch.Tensor:
        parts = []
        for name in names:
            if name in inputs:
                parts.append(inputs[name])
        return torch.cat(parts)


def check_shapes(arrays, expected):
    for array, shape in zip(arrays, expected):
        assert array.shape == shape
        assert array.shape[-len(shape) :] == shape


class Heads(torch.nn.Module):
    def __init__(self, n_heads):
        super().__init__()
        self.n_heads = n_heads

    def forward(self, x):
        width = like(x)
        if width % self.n_heads != 0:  # a size
            raise ValueError(width)
        return x
