"""`python -m sim diagnose`: a short evening with a fault in it, a bundle, and what is made of it.

It proves the rules of `protocol/bundle/causes/`: each fault is put into the simulated hardware,
and the rules are given the bundle's bytes and nothing else.
"""
