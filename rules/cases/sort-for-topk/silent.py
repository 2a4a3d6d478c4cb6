import torch


class Filter(torch.nn.Module):
    def forward(self, logits, k: int):
        best = logits.topk(k, sorted=False).values
        order = logits.sort(descending=True)[0]
        ranks = torch.argsort(logits, dim=-1)
        return best + order.cumsum(-1), ranks


def names(model):
    return sorted(model.keys())


class Nucleus(torch.nn.Module):
    """What is dropped depends on the sum over all that is larger."""

    def forward(self, logits, share: float):
        values, order = torch.sort(logits.softmax(-1), dim=-1, descending=True)
        dropped = values.cumsum(-1) - values > share
        return logits.masked_fill(dropped.scatter(-1, order, dropped), float("-inf"))


def pack(batch):
    """On the host, by length, and all of them are used."""
    batch = sorted(batch, key=len, reverse=True)
    lengths = [len(entry) for entry in batch]
    return torch.nn.utils.rnn.pad_sequence(batch), lengths


def survivors(fitness, count):
    keep = jnp.argsort(fitness)[:count]  # XLA compiles it into the step
    return keep


def ranked(names, counts, k):
    names.sort(key=counts.get, reverse=True)  # a list
    return names[:k]


class Ranking(torch.nn.Module):
    def forward(self, x, names, counts):
        return self.score(x), ranked(names, counts, 10)
