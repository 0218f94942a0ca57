"""The way from a model to a patch: hot spots become tasks, and winners become packages (docs/production.md).

    kernelsmith profile MODEL --out DIR             finds hot spots, and makes tasks from them
    kernelsmith publish RUN... --as KIND --out DIR  makes a package from confirmed bests
    kernelsmith apply PACKAGE MODEL --measure       measures the package in the whole model
"""
