"""The code that runs in the sandbox. It executes foreign modules on tensors without values, and does not
import kernelsmith."""
