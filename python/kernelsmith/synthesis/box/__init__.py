"""What runs in the sandbox: it executes modules of others on tensors without values. It imports nothing of kernelsmith."""
