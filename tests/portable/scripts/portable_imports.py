"""Imports every module of the portable core, whatever it is called."""

import os

from controller import core


async def main():
    folder = core.__file__.rsplit("/", 1)[0]
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and name != "__init__.py":
            __import__("controller.core." + name[:-3])
            print("imported", name)
