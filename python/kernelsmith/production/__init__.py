"""From a model to a patch: hot spots become tasks, winners become packages (docs/production.md).

    kernelsmith profile MODEL --out DIR             hot spots, and tasks of them
    kernelsmith publish RUN... --as KIND --out DIR  a package of confirmed bests
    kernelsmith apply PACKAGE MODEL --measure       the package in the whole model
"""
