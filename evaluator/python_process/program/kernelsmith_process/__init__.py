"""Shared code of our Python programs: messages to and from kernelsmith, and ending processes. Python 3.8 or newer."""
