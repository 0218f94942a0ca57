"""Agents around a run: a Model Context Protocol server over it, and a small agent of our own (docs/agents.md)."""
