from dataclasses import dataclass

import torch.nn as nn


@dataclass
class Config:
    vocab_size: int = 50257  # expect: odd-dimension
    width: int = 768


class Settings:
    vocab_size = 30522  # expect: odd-dimension


def settings():
    config = Config()
    config.vocab_size = 50257  # expect: odd-dimension
    return config
