"""The convolutional network of examples/cnn by Opacus, and without privacy by PyTorch, on the CPU.

    cnn_opacus.py private | private-ghost | plain
"""
import sys

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, max_pool2d

from worker import (CLASSES, CNN, CONVOLUTIONS, FEATURES, POOL, POOL_STRIDE, UNITS, images, labels,
                    serve_torch)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions, channels = nn.ModuleList(), 1
        for filters, size, stride, padding in CONVOLUTIONS:
            self.convolutions.append(nn.Conv2d(channels, filters, size, stride, padding))
            channels = filters
        self.hidden, self.last = nn.Linear(FEATURES, UNITS), nn.Linear(UNITS, CLASSES)
        for layer in [*self.convolutions, self.hidden, self.last]:
            nn.init.normal_(layer.weight, std=layer.weight[0].numel()**-0.5)
            nn.init.zeros_(layer.bias)

    def forward(self, x, y):
        """Cross entropy of each row."""
        for convolution in self.convolutions:
            x = max_pool2d(torch.tanh(convolution(x)), POOL, POOL_STRIDE)
        logits = self.last(torch.tanh(self.hidden(x.flatten(1))))
        return cross_entropy(logits, y, reduction="none")


if __name__ == "__main__":
    serve_torch(Network(), [images().reshape(-1, 1, 28, 28), labels().astype(np.int64)], CNN,
                sys.argv[1])
