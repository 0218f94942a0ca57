import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Prepares the metadata of a decode batch from the table that gives the slot of every token of a request."""

    def __init__(self, page_size):
        super().__init__()
        self.page_size = page_size

    def forward(self, requests, lengths, slots):
        lengths = lengths + 1
        ends = F.pad(torch.cumsum(lengths, dim=0, dtype=torch.int32), (1, 0))
        rows = slots[requests]
        pages = rows[:, :: self.page_size] // self.page_size
        first = torch.arange(pages.shape[1], device=slots.device) * self.page_size
        pages = torch.where(first[None, :] < lengths[:, None], pages, -1)
        new_slots = rows.gather(1, (lengths - 1).long()[:, None]).squeeze(1)
        return lengths, ends, pages, new_slots


batch = 256
most_requests = 256
most_tokens = 8192
page_size = 16


def get_inputs():
    pages = torch.randperm(most_requests * most_tokens // page_size, dtype=torch.int32)
    slots = pages.view(most_requests, -1, 1) * page_size + torch.arange(page_size, dtype=torch.int32)
    requests = torch.randperm(most_requests)[:batch]
    lengths = torch.randint(1, most_tokens, (batch,), dtype=torch.int32)
    return [requests, lengths, slots.view(most_requests, most_tokens)]


def get_init_inputs():
    return [page_size]
