import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embed = nn.Embedding(50304, 768)
        self.other = nn.Embedding(vocab, 768)
        self.head = nn.Linear(768, 10)
