"""Lists, read page by page as far as they are used."""

from __future__ import annotations

from itertools import islice
from typing import Any, AsyncIterator, Callable, Dict, Generic, Iterator, List, NamedTuple, Optional, Tuple, TypeVar

from .operation import CallOptions, Operation
from .threads import ThreadRunner
from .transport import Transport

Item = TypeVar("Item")
Fields = Dict[str, Any]


class Page(NamedTuple):
    """A part of a list."""

    items: List[Any]
    #: The number of items in the whole list.
    total: int
    #: Whether counting stopped early: there are at least `total` items.
    total_capped: bool
    #: The cursor of the next page; empty on the last page and in lists with page numbers.
    next_cursor: str


class PagedList(Generic[Item]):
    """A list. Iterating over it gives its items; nothing is sent before."""

    def __init__(
        self, transport: Transport, operation: Operation, fields: Fields, options: Optional[CallOptions]
    ) -> None:
        self._read = _reader(transport, operation, fields, options)

    def page(self) -> Page:
        """Reads the page that the request selects."""
        return self._read({})[0]

    def pages(self) -> Iterator[Page]:
        """Iterates over the pages, from the one that the request selects."""
        position: Optional[Fields] = {}
        while position is not None:
            page, position = self._read(position)
            yield page

    def take(self, count: int) -> List[Item]:
        """Reads at most `count` items."""
        return list(islice(self, count))

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.items


class AsyncPagedList(Generic[Item]):
    """A list. Iterating over it with `async for` gives its items; nothing is sent before."""

    def __init__(
        self,
        threads: ThreadRunner,
        transport: Transport,
        operation: Operation,
        fields: Fields,
        options: Optional[CallOptions],
    ) -> None:
        self._threads = threads
        self._transport = transport
        self._operation = operation
        self._fields = fields
        self._options = options

    async def page(self) -> Page:
        """Reads the page that the request selects."""
        return (await self._read({}))[0]

    async def pages(self) -> AsyncIterator[Page]:
        """Iterates over the pages, from the one that the request selects."""
        position: Optional[Fields] = {}
        while position is not None:
            page, position = await self._read(position)
            yield page

    async def take(self, count: int) -> List[Item]:
        """Reads at most `count` items."""
        taken: List[Item] = []
        if count > 0:
            async for item in self:
                taken.append(item)
                if len(taken) == count:
                    break
        return taken

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def _read(self, position: Fields) -> Tuple[Page, Optional[Fields]]:
        def read(options: CallOptions) -> Tuple[Page, Optional[Fields]]:
            return _reader(self._transport, self._operation, self._fields, options)(position)

        return await self._threads.call(read, self._options)


def _reader(
    transport: Transport, operation: Operation, fields: Fields, options: Optional[CallOptions]
) -> Callable[[Fields], Tuple[Page, Optional[Fields]]]:
    def read(position: Fields) -> Tuple[Page, Optional[Fields]]:
        body = transport.call(operation, {**fields, **position}, options)
        items, total = body["data"], body["total"]
        if operation.result == "numbered":
            has_more = body["page"] * body["per_page"] < total
            return Page(items, total, False, ""), {"page": body["page"] + 1} if has_more else None
        cursor = body["next_cursor"]
        # The cursor counts from the first page, so the offset is not applied again.
        following = {"cursor": cursor, "offset": None} if cursor else None
        return Page(items, total, body["total_capped"], cursor), following

    return read
