# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.browser_session import BrowserSession, CurrentSession, LoginLink, SignOut

CREATE_LOGIN_LINK = Operation("POST", "/api/v2/identity/login-links", body="*", keyed=True)
GET_CURRENT_SESSION = Operation("GET", "/api/v2/identity/session")
LIST = Operation("GET", "/api/v2/identity/sessions", result="cursor")
REVOKE = Operation("POST", "/api/v2/identity/sessions/{id}/revoke", body="*", keyed=True)
SIGN_OUT_EVERYWHERE = Operation("POST", "/api/v2/identity/sign-out", body="*", keyed=True)


class BrowserSessionService(Service):
    """Browser sessions: how people use the service in a browser. A session is kept by the service; the browser has a cookie."""

    def create_login_link(
        self,
        *,
        return_to: str | None = None,
        call: CallOptions | None = None,
    ) -> LoginLink:
        """
        Creates a link that signs a browser in, once and within minutes, with the access of the caller. It works for API keys and for members.

        return_to: Where the browser goes after the sign-in: a path of this service, such as /docs.
        """
        return self._call(CREATE_LOGIN_LINK, locals())

    def get_current_session(
        self,
        *,
        call: CallOptions | None = None,
    ) -> CurrentSession:
        """Returns the caller: who it is, its roles and, for a browser, its session."""
        return self._call(GET_CURRENT_SESSION, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[BrowserSession]:
        """
        Lists the caller's own browser sessions that have not ended.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def revoke(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> BrowserSession:
        """
        Ends one of the caller's own browser sessions, on every node within a second. An admin can end every session of the tenant. A session that has ended stays unchanged.

        id: The session's id.
        """
        return self._call(REVOKE, locals())

    def sign_out_everywhere(
        self,
        *,
        member_id: str | None = None,
        call: CallOptions | None = None,
    ) -> SignOut:
        """
        Signs a person out everywhere, on every node within a second: ends all browser sessions of the member and of the member's API keys, voids the login links, and refuses tokens that were issued until now. API keys stay valid. Members can sign themselves out; an admin can sign out every member of the tenant.

        member_id: The member's id; the caller when empty.
        """
        return self._call(SIGN_OUT_EVERYWHERE, locals())


class AsyncBrowserSessionService(AsyncService):
    """Browser sessions: how people use the service in a browser. A session is kept by the service; the browser has a cookie."""

    async def create_login_link(
        self,
        *,
        return_to: str | None = None,
        call: CallOptions | None = None,
    ) -> LoginLink:
        """
        Creates a link that signs a browser in, once and within minutes, with the access of the caller. It works for API keys and for members.

        return_to: Where the browser goes after the sign-in: a path of this service, such as /docs.
        """
        return await self._call(CREATE_LOGIN_LINK, locals())

    async def get_current_session(
        self,
        *,
        call: CallOptions | None = None,
    ) -> CurrentSession:
        """Returns the caller: who it is, its roles and, for a browser, its session."""
        return await self._call(GET_CURRENT_SESSION, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[BrowserSession]:
        """
        Lists the caller's own browser sessions that have not ended.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def revoke(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> BrowserSession:
        """
        Ends one of the caller's own browser sessions, on every node within a second. An admin can end every session of the tenant. A session that has ended stays unchanged.

        id: The session's id.
        """
        return await self._call(REVOKE, locals())

    async def sign_out_everywhere(
        self,
        *,
        member_id: str | None = None,
        call: CallOptions | None = None,
    ) -> SignOut:
        """
        Signs a person out everywhere, on every node within a second: ends all browser sessions of the member and of the member's API keys, voids the login links, and refuses tokens that were issued until now. API keys stay valid. Members can sign themselves out; an admin can sign out every member of the tenant.

        member_id: The member's id; the caller when empty.
        """
        return await self._call(SIGN_OUT_EVERYWHERE, locals())
