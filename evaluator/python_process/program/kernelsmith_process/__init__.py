"""What our Python programs share: messages to and from kernelsmith, and the end of processes. Python 3.8 or newer."""
