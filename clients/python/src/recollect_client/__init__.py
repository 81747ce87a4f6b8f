"""Client of a Recollect server. Standard library only.

>>> from recollect_client import Client
>>> client = Client(api_key="rc_agent_...")  # doctest: +SKIP
>>> client.remember("I prefer tea over coffee.", user="ada")  # doctest: +SKIP
"""

from .async_client import AsyncClient
from .client import Client
from .errors import RecollectError
from .types import (
    Change,
    Memory,
    MemoryPage,
    PromptContext,
    RecallResult,
    RecalledMemory,
    RememberResult,
)

__all__ = [
    "AsyncClient",
    "Change",
    "Client",
    "Memory",
    "MemoryPage",
    "PromptContext",
    "RecallResult",
    "RecalledMemory",
    "RecollectError",
    "RememberResult",
]
__version__ = "0.2.0"
