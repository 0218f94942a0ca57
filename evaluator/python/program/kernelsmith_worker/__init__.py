"""The program of the python backend: imports an evaluator once and calls it in forks. Python 3.8 or newer, Linux."""
