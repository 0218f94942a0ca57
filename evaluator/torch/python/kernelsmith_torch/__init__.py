"""The Python processes of the torch backend: the planner (untrusted) and the workers (trusted). docs/torch-plan.md."""
