"""What is true of the table beside its round: settings, faults, amounts, and what people are told.

`state.TableState` holds the rules of this moment, and `news.TableNews` tells who listens.
"""
