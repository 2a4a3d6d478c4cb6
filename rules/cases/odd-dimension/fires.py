import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50257, 768)  # expect: odd-dimension
        self.types = nn.Embedding(num_embeddings=30522, embedding_dim=768)  # expect: odd-dimension
        self.head = nn.Linear(768, 50257, bias=False)  # expect: odd-dimension
