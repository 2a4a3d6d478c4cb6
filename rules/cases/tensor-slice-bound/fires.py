import torch
from routing import dispatch


class Pack(torch.nn.Module):
    def forward(self, x, lengths: torch.Tensor):
        longest = lengths.max()
        x = x[:, :longest]  # expect: tensor-slice-bound
        total = torch.cumsum(lengths, 0)
        head = x[: total[-1]]  # expect: tensor-slice-bound
        out = []
        for i in range(lengths.sum()):  # expect: tensor-slice-bound
            out.append(head[i])
        return torch.stack(out)


def train(model, loader, optimizer):
    for batch in loader:
        counts = dispatch(batch)
        for i in range(counts.sum()):  # expect: tensor-slice-bound
            model.visit(i)
        model(batch).mean().backward()
        optimizer.step()


def length_mask(lengths, longest=None):
    if longest is None:
        longest = lengths.max()
    steps = torch.arange(longest, device=lengths.device)  # expect: tensor-slice-bound
    return steps.unsqueeze(0) < lengths.unsqueeze(1)


class MaskedEncoder(torch.nn.Module):
    def forward(self, x, lengths):
        return self.layers(x) * length_mask(lengths, x.size(2))


class MaskedDecoder(torch.nn.Module):
    def forward(self, x, lengths):
        return self.layers(x) * length_mask(lengths)


class Padded(torch.nn.Module):
    def forward(self, x, lengths):
        longest = lengths.max()
        mask = torch.zeros(x.shape[0], longest, device=x.device)  # expect: tensor-slice-bound
        for i, n in enumerate(lengths):
            mask[i, :n] = 1  # expect: tensor-slice-bound
        counts = torch.cumsum(lengths, 0)
        rows = x.new_zeros((lengths.sum(), 8))  # expect: tensor-slice-bound
        best = x[x.sum(-1).argmax()]  # expect: tensor-slice-bound
        return mask, counts, rows, best


class Ragged(torch.nn.Module):
    def forward(self, x, offsets):
        sizes = torch.diff(offsets)
        parts = []
        for first, last in zip(offsets[:-1], offsets[1:]):
            parts.append(x[first:last].sum(0))  # expect: tensor-slice-bound
        flat = x.view(-1, sizes.max())  # expect: tensor-slice-bound
        return torch.stack(parts), flat


class PackedLoss(torch.nn.Module):
    def forward(self, losses, text_position_ids):
        cu_seqlens = self.offsets_of(text_position_ids)
        total = losses.new_zeros(cu_seqlens.shape[0] - 1)
        for i in range(cu_seqlens.shape[0] - 1):
            start, end = cu_seqlens[i], cu_seqlens[i + 1]
            total[i] = losses[start:end].sum()  # expect: tensor-slice-bound
        return total


class PackedAttention(torch.nn.Module):
    def forward(self, q, k, v, cu_seqlens, **options):
        longest = (cu_seqlens[1:] - cu_seqlens[:-1]).max()
        return flash_attn_varlen_func(  # expect: tensor-slice-bound
            q, k, v, cu_seqlens_q=cu_seqlens, cu_seqlens_k=cu_seqlens, max_seqlen_q=longest, max_seqlen_k=longest, **options
        )


class Sampled(torch.nn.Module):
    def forward(self, x, lengths):
        lengths = lengths.to(x.device, non_blocking=True)
        at = torch.randint(0, lengths.max(), (8,), device=x.device)  # expect: tensor-slice-bound
        return x[at]


class Hardest(torch.nn.Module):
    def forward(self, losses, keep: torch.Tensor):
        count = keep.sum()
        worst = losses.topk(count).values  # expect: tensor-slice-bound
        least = torch.topk(losses, k=count, largest=False).values  # expect: tensor-slice-bound
        return worst.mean() - least.mean()


class GridPositions(torch.nn.Module):
    def forward(self, x, grid_thw: torch.Tensor):
        rows = []
        for t, h, w in grid_thw:
            rows.append(torch.arange(h, device=x.device))  # expect: tensor-slice-bound
            rows.append(torch.zeros(t, device=x.device))  # expect: tensor-slice-bound
        return torch.cat(rows)


class Cropped(torch.nn.Module):
    def forward(self, x, batch):
        return x[:, : batch.lengths.max()]  # expect: tensor-slice-bound


class Encoded(torch.nn.Module):
    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return [out[i, : lengths[i]] for i in range(x.size(0))]  # expect: tensor-slice-bound


class ByDegree(torch.nn.Module):
    """Degrees are a tensor, unlike the counts of a graph."""

    def forward(self, graph, features):
        degrees = graph.in_degrees().clamp(min=1)
        return features[:, : degrees.max()]  # expect: tensor-slice-bound


class Routed(torch.nn.Module):
    def forward(self, x, scores):
        best = torch.argmax(scores)
        first = x[best]  # expect: tensor-slice-bound
        for row in torch.randperm(x.size(0), device=x.device):
            first = first + x[row]  # expect: tensor-slice-bound
        return first


class Paired(torch.nn.Module):
    def forward(self, input_ids=None, scores=None):
        total = 0.0
        for i in range(input_ids.shape[0] // 2):
            differ = (input_ids[2 * i] != input_ids[2 * i + 1]).nonzero()
            first = differ[0]
            total = total + scores[i][first:].mean()  # expect: tensor-slice-bound
        return total


def mask_of(source, source_lengths):
    mask = source.new_ones(source.shape[0], 1, source.shape[-1])
    for i in range(source.shape[0]):
        mask[i, :, source_lengths[i]:] = 0  # expect: tensor-slice-bound
    return mask


def separate(model, loader, optimizer, device):
    for mixture, lengths, sources in loader:
        lengths = lengths.to(device, non_blocking=True)
        sources = sources.to(device, non_blocking=True)
        loss = ((model(mixture.to(device, non_blocking=True)) - sources) * mask_of(sources, lengths)).square().mean()
        loss.backward()
        optimizer.step()
