"""People at the manager: who they are, how they prove it, what they may do, and in twos.

Their accounts and requests are rows of the ledger, and every act is an entry of its chain. Pages
and commands come in through the same doors here.
"""
