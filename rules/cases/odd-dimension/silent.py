import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embed = nn.Embedding(50304, 768)
        self.other = nn.Embedding(vocab, 768)
        self.head = nn.Linear(768, 10)


def padded_vocabulary(tokenizer, width):
    """Padded to what the matrix units like."""
    size = -(-len(tokenizer) // 64) * 64
    embed = nn.Embedding(size, width, padding_idx=tokenizer.pad_token_id)
    head = nn.Linear(width, size, bias=False)
    return embed, head


class Classifier(nn.Module):
    def __init__(self, encoder, labels):
        super().__init__()
        self.encoder = encoder
        self.positions = nn.Embedding(512, encoder.width)
        self.head = nn.Linear(encoder.width, labels)
