"""What the pages of a unit, of a manager and of the bench have in common.

Who shows what is not known here: only how a view is streamed, how long a slow browser is waited
for, and the files that every page loads.
"""

# As Starlette wants it beside a folder of one's own: `StaticFiles(directory=…, packages=[SHARED])`.
SHARED = ("kit", "web/static")
