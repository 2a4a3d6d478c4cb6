import numpy as np
import torch
from torch import nn


def swap(boxes):
    return boxes[:, [1, 0, 3, 2]]


class Dataset(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return swap(np.zeros((4, 4)))


class Head(nn.Module):
    def forward(self, features, boxes):
        return features.sum() + swap(boxes.detach().cpu().numpy()).sum()
