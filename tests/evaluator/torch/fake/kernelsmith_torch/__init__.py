"""The programs of the torch backend without PyTorch, for tests: what they find and measure stands in the texts of
reference and candidate, which are JSON."""
