"""What people read, in their language: whole sentences, and numbers as they are written there.

The English sentence is the key. Which sentences there are is known by whoever keeps a catalogue:
the unit's lies in `controller/words/`, one file for each language.
"""

from kit.words.catalogue import Catalogue, load
from kit.words.numbers import LOCALES, Numbers

__all__ = ["LOCALES", "Catalogue", "Numbers", "load"]
