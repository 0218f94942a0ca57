"""Agents around a run: a Model Context Protocol server for it, and our own small agent (docs/agents.md)."""
