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
    from ..types.subscriber_token import CreateSubscriberTokenResponse, RevokeSubscriberTokenResponse, RevokeSubscriberTokensResponse

CREATE = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/tokens", body="*", keyed=True)
REVOKE_SUBSCRIBER_TOKENS = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/tokens:revoke", body="*", keyed=True)
REVOKE_SUBSCRIBER_TOKEN = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/tokens/{token_id}:revoke", body="*", keyed=True)


class SubscriberTokenService(Service):
    """Subscriber tokens: short-lived credentials with which the web page of a subscriber reads and marks its inbox and changes its preferences, and nothing else."""

    def create(
        self,
        *,
        subscriber_id: str,
        ttl_s: int | None = None,
        call: CallOptions | None = None,
    ) -> CreateSubscriberTokenResponse:
        """
        Creates a token for an active subscriber. Call it from your backend, and send the token to the subscriber's page. Only this response contains it.

        subscriber_id: The subscriber.
        ttl_s: The lifetime in seconds; default 900.
        """
        return self._call(CREATE, locals())

    def revoke_subscriber_tokens(
        self,
        *,
        subscriber_id: str,
        call: CallOptions | None = None,
    ) -> RevokeSubscriberTokensResponse:
        """
        Revokes all tokens of a subscriber. Calls are refused at once, and open streams end within a second. Deleting a subscriber revokes its tokens, too.

        subscriber_id: The subscriber.
        """
        return self._call(REVOKE_SUBSCRIBER_TOKENS, locals())

    def revoke_subscriber_token(
        self,
        *,
        subscriber_id: str,
        token_id: str,
        call: CallOptions | None = None,
    ) -> RevokeSubscriberTokenResponse:
        """
        Revokes one token of a subscriber by the id that its creation returned. The other tokens stay valid. At most 100 tokens of a subscriber that have not expired can be revoked one by one.

        subscriber_id: The subscriber.
        token_id: The id of the token.
        """
        return self._call(REVOKE_SUBSCRIBER_TOKEN, locals())


class AsyncSubscriberTokenService(AsyncService):
    """Subscriber tokens: short-lived credentials with which the web page of a subscriber reads and marks its inbox and changes its preferences, and nothing else."""

    async def create(
        self,
        *,
        subscriber_id: str,
        ttl_s: int | None = None,
        call: CallOptions | None = None,
    ) -> CreateSubscriberTokenResponse:
        """
        Creates a token for an active subscriber. Call it from your backend, and send the token to the subscriber's page. Only this response contains it.

        subscriber_id: The subscriber.
        ttl_s: The lifetime in seconds; default 900.
        """
        return await self._call(CREATE, locals())

    async def revoke_subscriber_tokens(
        self,
        *,
        subscriber_id: str,
        call: CallOptions | None = None,
    ) -> RevokeSubscriberTokensResponse:
        """
        Revokes all tokens of a subscriber. Calls are refused at once, and open streams end within a second. Deleting a subscriber revokes its tokens, too.

        subscriber_id: The subscriber.
        """
        return await self._call(REVOKE_SUBSCRIBER_TOKENS, locals())

    async def revoke_subscriber_token(
        self,
        *,
        subscriber_id: str,
        token_id: str,
        call: CallOptions | None = None,
    ) -> RevokeSubscriberTokenResponse:
        """
        Revokes one token of a subscriber by the id that its creation returned. The other tokens stay valid. At most 100 tokens of a subscriber that have not expired can be revoked one by one.

        subscriber_id: The subscriber.
        token_id: The id of the token.
        """
        return await self._call(REVOKE_SUBSCRIBER_TOKEN, locals())
