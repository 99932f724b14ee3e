"""`underfelt-tech`: one tool for the technician, on a laptop or on the unit itself.

It knows the service door and files that were taken home; nothing that runs on a unit imports it.
`python -m deploy.tech` lists its commands, and `commands` has one module for each.
"""
