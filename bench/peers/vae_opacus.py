"""The variational autoencoder of bench/vae_step by Opacus, and without privacy by PyTorch, on the CPU.

    vae_opacus.py private | private-ghost | plain
"""
import sys

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from worker import HIDDEN, LATENT, PIXELS, VAE, images, serve_torch


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.back = nn.Linear(PIXELS, HIDDEN), nn.Linear(LATENT, HIDDEN)
        self.loc, self.log_scale = nn.Linear(HIDDEN, LATENT), nn.Linear(HIDDEN, LATENT)
        self.logits = nn.Linear(HIDDEN, PIXELS)
        for p in self.parameters():
            nn.init.normal_(p, std=0.01)

    def forward(self, x):
        """Negative ELBO of each row; the divergence from the prior is exact."""
        h = softplus(self.hidden(x))
        loc, log_scale = self.loc(h), self.log_scale(h)
        z = loc + torch.exp(log_scale) * torch.randn_like(loc)
        logits = self.logits(softplus(self.back(z)))
        misfit = binary_cross_entropy_with_logits(logits, x, reduction="none").sum(dim=1)
        divergence = 0.5 * (torch.exp(2 * log_scale) + loc**2 - 1 - 2 * log_scale).sum(dim=1)
        return misfit + divergence


if __name__ == "__main__":
    serve_torch(Autoencoder(), [images()], VAE, sys.argv[1])
