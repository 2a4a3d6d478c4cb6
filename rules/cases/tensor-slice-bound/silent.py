import torch


class Pack(torch.nn.Module):
    def forward(self, x, lengths: torch.Tensor, limit: int):
        x = x[:, : x.shape[1] // 2]
        n = x.size(0)
        x = x[:n, :limit]
        mask = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
        for layer in range(len(x.shape)):
            x = x + layer
        return x * mask


def spread(rows, sizes: list):
    return [rows[i] for i in range(sum(sizes))]


class PackedGRU(torch.nn.Module):
    def forward(self, packed: torch.Tensor, hidden: torch.Tensor):
        data, batch_sizes, _, _ = packed
        begin = 0
        for size in batch_sizes:  # of a PackedSequence: on the host
            hidden = self.cell(data[begin : begin + size], hidden[:size])
            begin += size
        return hidden


class Positions(torch.nn.Embedding):
    def forward(self, input_ids_shape: torch.Size, past: int = 0):
        batch, length = input_ids_shape[:2]
        return super().forward(torch.arange(past, past + length, device=self.weight.device))


def length_mask(lengths, longest=None):
    if longest is None:
        longest = lengths.max()
    steps = torch.arange(longest, device=lengths.device)
    return steps.unsqueeze(0) < lengths.unsqueeze(1)


class MaskedEncoder(torch.nn.Module):
    def forward(self, x, lengths):
        return self.layers(x) * length_mask(lengths, x.size(2))  # a number: the default is for others


class Heads(torch.nn.Module):
    def __init__(self, heads, depth):
        super().__init__()
        self.heads, self.depth = heads, depth

    def forward(self, x, input_size, group_size):
        height, width = input_size
        x = x.view(-1, self.heads, self.depth)
        bias = x.new_zeros(self.heads * self.depth, group_size)
        table = torch.zeros(height * width, device=x.device)
        order = x[x.argmax(-1)]  # one for each row
        return x + bias.sum() + table.sum() + order


class PackedRows(torch.nn.Module):
    def forward(self, losses, cu_seqlens):
        cu_seqlens = cu_seqlens_on_host(cu_seqlens)
        cu_seqlens = [int(n) for n in self.kept_offsets]
        return [losses[a:b].sum() for a, b in zip(cu_seqlens, cu_seqlens[1:])]


class PackedAttention(torch.nn.Module):
    """The loader, which packs the sequences, knows the longest."""

    def forward(self, q, k, v, cu_seqlens, max_seqlen: int):
        return flash_attn_varlen_func(
            q, k, v, cu_seqlens_q=cu_seqlens, cu_seqlens_k=cu_seqlens, max_seqlen_q=max_seqlen, max_seqlen_k=max_seqlen
        )


class Sampled(torch.nn.Module):
    def forward(self, x):
        return x[torch.randint(0, x.shape[0], (8,), device=x.device)]


class Best(torch.nn.Module):
    """The first argument is no size."""

    def forward(self, x, k: int, sizes: list):
        scores = self.score(x)
        best = torch.topk(scores, k).values + torch.topk(scores.sum(0), k=3, dim=-1).values
        return best, [torch.zeros(n, device=x.device) for n in sizes]


class EncodedOnce(torch.nn.Module):
    """One copy, and what it gives is on the host."""

    def forward(self, x, lengths):
        lengths = lengths.cpu()
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return [out[i, : lengths[i]] for i in range(x.size(0))]


class NodeEncoder(torch.nn.Module):
    """What a loop over a mapping takes are its keys."""

    def __init__(self, kinds, width):
        super().__init__()
        self.projections = torch.nn.ParameterDict({kind: torch.nn.Parameter(torch.empty(width, width)) for kind in kinds})

    def forward(self, input_features, input_nodes):
        out = {}
        for kind in input_nodes:
            hidden = input_features[kind].float() @ self.projections[kind]
            out[kind] = torch.cat([hidden, input_nodes[kind].unsqueeze(1).float()], dim=1)
        return out


class WithSelfLoops(torch.nn.Module):
    """A graph knows its counts."""

    def forward(self, graph, features):
        graph = graph.to(features.device)
        source, target = graph.edges()
        loops = torch.arange(graph.num_dst_nodes(), device=features.device)
        empty = torch.zeros((graph.number_of_edges("cites"), 8), device=features.device)
        return torch.cat([source, loops]), torch.cat([target, loops]), features[: graph.num_nodes()], empty


class Picked(torch.nn.Module):
    """Indices with a dimension stay on the device."""

    def forward(self, x, scores):
        best = torch.argmax(scores, dim=1)
        order = torch.randperm(x.size(0), device=x.device)
        return x[best] + x[order]


class Configured(torch.nn.Module):
    """What has no default but None may be no tensor."""

    def forward(self, x, token_config=None):
        return x[:, : token_config]


def crop(x, sizes, i):
    return x[i, :, :sizes[i]]


def train_crops(model, loader, optimizer, device):
    sizes = [128, 192, 224]
    for step, x in enumerate(loader):
        loss = model(crop(x.to(device, non_blocking=True), sizes, step % 3)).mean()
        loss.backward()
        optimizer.step()
