"""A small causal transformer and its data, shared by the samples."""
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

CONTEXT, WIDTH, HEADS, LAYERS, BATCH, STEPS = 64, 128, 4, 2, 16, 60
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def batches(pin=False):
    """STEPS batches of (input, target) bytes of the sample text, in a fixed order."""
    folder = pathlib.Path(__file__).parents[1] / "data"
    text = next(iter(sorted(folder.glob("*.txt")))).read_bytes()
    data = torch.tensor(list(text), dtype=torch.long)
    generator = torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        starts = torch.randint(len(data) - CONTEXT - 1, (BATCH,), generator=generator)
        rows = torch.stack([data[s:s + CONTEXT + 1] for s in starts.tolist()])
        yield rows.pin_memory() if pin and DEVICE.type == "cuda" else rows


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, t, -1))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(256, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 256)
        self.register_buffer("places", torch.arange(CONTEXT))
        self.register_buffer("mask", torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).tril())

    def forward(self, tokens):
        x = self.token(tokens) + self.place(self.places)
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(x)


def build(model_class=Transformer):
    """A model and its optimiser, the same for every sample."""
    torch.manual_seed(0)
    model = model_class().to(DEVICE)
    return model, torch.optim.AdamW(model.parameters(), lr=3e-4)


def loss_of(model, rows):
    """Cross-entropy of the next byte; `rows` lie on the device."""
    return F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
