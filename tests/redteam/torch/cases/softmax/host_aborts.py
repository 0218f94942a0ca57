# redteam: rejected(plan, crashed) or rejected(plan, plan_failed)
# twin: honest
# tries: aborts while it is planned

import ctypes

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        ctypes.string_at(0)
