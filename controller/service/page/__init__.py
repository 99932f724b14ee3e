"""The service page: a technician's own door, closed unless the table's file opens it.

`door` is its face. What the page shows and does is `controller.service.live`'s.
"""
