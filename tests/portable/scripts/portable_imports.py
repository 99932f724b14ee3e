"""Imports every module of the portable core, in every room of it, whatever it is called."""

import os

from controller import core

ROOMS = ("", "felt", "round")


async def main():
    folder = core.__file__.rsplit("/", 1)[0]
    for room in ROOMS:
        package = "controller.core" + ("." + room if room else "")
        for name in sorted(os.listdir(folder + "/" + room)):
            if name.endswith(".py") and name != "__init__.py":
                __import__(package + "." + name[:-3])
                print("imported", package, name)
