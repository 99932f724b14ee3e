"""What goes over the wire between a table unit and the manager.

This package alone knows the bytes: the CBOR profile, the framing, the messages, the journal's
event bodies and the digests over them. It decides nothing about rounds, money or lights, and
of ours it imports the kit alone, so that both ends and the tools can share it.
"""
