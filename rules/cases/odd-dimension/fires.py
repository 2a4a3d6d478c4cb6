import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50257, 768)  # expect: odd-dimension
        self.types = nn.Embedding(num_embeddings=30522, embedding_dim=768)  # expect: odd-dimension
        self.head = nn.Linear(768, 50257, bias=False)  # expect: odd-dimension


def build_head(width, tie):
    """The vocabulary as the tokenizer counts it."""
    head = nn.Linear(width, 32001, bias=False)  # expect: odd-dimension
    if tie is not None:
        head.weight = tie.weight
    return head


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tokens = nn.Embedding(50265, config.width, padding_idx=1)  # expect: odd-dimension
        self.positions = nn.Embedding(1024, config.width)
