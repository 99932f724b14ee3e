"""Signs a unit's certificate in a process of its own: serving tables never opens the CA's key.

The process lives for one signature. Who may ask for one is decided before.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder

SIGNED_MAX_S = 30.0


def _sign(data: Path, unit_id: str, signing_request: bytes) -> bytes:
    return IdentityFolder(data).issue(unit_id, signing_request)


async def sign_beside(data: Path, unit_id: str, signing_request: bytes) -> bytes:
    """The certificate, or why there is none."""
    # Spawned, not forked: a fork would take the ledger's lock and the units' sockets with it.
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(SIGNED_MAX_S):
            return await loop.run_in_executor(pool, _sign, data, unit_id, signing_request)
    except (TimeoutError, BrokenProcessPool) as error:
        raise IdentityError("The certificate could not be signed; try it again.") from error
    except OSError as error:
        raise IdentityError(f"The CA's key cannot be used here: {error}.") from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
