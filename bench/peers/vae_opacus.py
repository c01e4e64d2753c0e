"""The variational autoencoder of bench/vae_step by Opacus, and without privacy by PyTorch, on the CPU.

    vae_opacus.py private | private-ghost | plain

"private" holds each record's gradient, Opacus' default; "private-ghost" takes its norms from the layers
and goes backward twice.  Adam is PyTorch's fused one.  OMP_NUM_THREADS says how many threads.
"""
import os
import sys

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from worker import BATCH, CLIP, HIDDEN, LATENT, N, PIXELS, RATE, SIGMA, images, serve, versions


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


def wrap(how):
    """Model, optimiser, and what goes backward from the losses of the rows."""
    model = Autoencoder()
    adam = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    if how == "plain":
        return model, adam, lambda losses: losses.mean().backward()
    privacy = {"noise_multiplier": SIGMA, "max_grad_norm": CLIP, "expected_batch_size": BATCH}
    if how == "private":
        from opacus import GradSampleModule
        from opacus.optimizers import DPOptimizer
        return (GradSampleModule(model), DPOptimizer(adam, **privacy),
                lambda losses: losses.mean().backward())
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPTensorFastGradientClipping
    model = GradSampleModuleFastGradientClipping(model, max_grad_norm=CLIP, use_ghost_clipping=True)
    optimizer = DPOptimizerFastGradientClipping(adam, **privacy)
    return model, optimizer, lambda losses: DPTensorFastGradientClipping(model, optimizer,
                                                                         losses).backward()


def main(how):
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    x = torch.from_numpy(images())
    model, optimizer, backward = wrap(how)

    def block(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            backward(model(x[torch.randint(N, (BATCH,))]))
            optimizer.step()

    private = how != "plain"
    note = "float32, rows drawn with replacement" + (", noise from PyTorch's generator" if private else "")
    names = ("opacus", "torch") if private else ("torch",)
    serve(block, private=private, note=note, versions=versions(*names))


if __name__ == "__main__":
    main(sys.argv[1])
