import torch
from torch import nn


def swap(boxes, columns):
    return boxes[:, [1, 0, 3, 2]] + boxes[:, columns]  # expect: host-index-on-device


class Head(nn.Module):
    def forward(self, features, boxes):
        return self.pick({"boxes": boxes.sigmoid()}) + swap(boxes.exp(), 0)

    def pick(self, outputs):
        return outputs["boxes"][:, [0, 2]]  # expect: host-index-on-device
