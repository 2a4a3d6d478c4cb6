import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch import nn


class Decoder(nn.Module):
    def forward(self, x):
        t = x.shape[1]
        mask = torch.triu(torch.ones(t, t, device=x.device), diagonal=1).bool()  # expect: mask-recreated
        return self.block(x, mask)


class Model(nn.Module):
    def causal(self, n, device):
        return torch.full((n, n), float("-inf"), device=device).triu(1)  # expect: mask-recreated

    def forward(self, tokens):
        h = self.embed(tokens)
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1))  # expect: mask-recreated
        return self.layers(h, self.causal(tokens.size(1), h.device) + mask)


class Translator(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        length = batch["target"].shape[1]
        causal = torch.triu(torch.ones(length, length, device=self.device), diagonal=1)  # expect: mask-recreated
        return self.model(batch["source"], batch["target"], causal)


class BoolMask(torch.nn.Module):
    def forward(self, x):
        n = x.shape[1]
        hidden = torch.triu(torch.ones(n, n, dtype=torch.bool, device=x.device), 1)  # expect: mask-recreated
        return x.masked_fill(hidden, 0)


class PairLoss(nn.Module):
    def forward(self, coordinates):
        n = coordinates.shape[1]
        others = 1 - torch.eye(n, device=coordinates.device)  # expect: mask-recreated
        return (self.distances(coordinates) * others).mean()


class Flex(torch.nn.Module):
    def forward(self, q, k, v):
        mask = create_block_mask(causal, None, None, q.size(2), k.size(2))  # expect: mask-recreated
        return flex_attention(q, k, v, block_mask=mask)
