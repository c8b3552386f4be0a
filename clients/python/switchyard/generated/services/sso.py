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
    from ..types.sso import GroupRoles, OidcConnectionInput, SamlConnectionInput, SsoConnection, SsoDefaultRoles, SsoEmailDomains

CREATE_CONNECTION = Operation("POST", "/api/v2/identity/connections", body="*", keyed=True)
GET_CONNECTION = Operation("GET", "/api/v2/identity/connections/{id}")
LIST_CONNECTIONS = Operation("GET", "/api/v2/identity/connections", result="cursor")
UPDATE_CONNECTION = Operation("PATCH", "/api/v2/identity/connections/{id}", body="*", keyed=True)
VERIFY_DOMAINS = Operation("POST", "/api/v2/identity/connections/{id}:verify_domains", body="*", keyed=True)
DELETE_CONNECTION = Operation("DELETE", "/api/v2/identity/connections/{id}", keyed=True)
SET_GROUP_ROLES = Operation("PUT", "/api/v2/identity/group-roles", body="*", keyed=True)
LIST_GROUP_ROLES = Operation("GET", "/api/v2/identity/group-roles", result="cursor")
GET_GROUP_ROLES = Operation("GET", "/api/v2/identity/group-roles:find")
DELETE_GROUP_ROLES = Operation("DELETE", "/api/v2/identity/group-roles/{id}", keyed=True)


class SsoService(Service):
    """Single sign-on: identity providers that sign people in, and the roles of their groups."""

    def create_connection(
        self,
        *,
        name: str,
        just_in_time: bool | None = None,
        default_roles: Sequence[str] | None = None,
        email_domains: Sequence[str] | None = None,
        oidc: OidcConnectionInput | None = None,
        saml: SamlConnectionInput | None = None,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Creates a connection to an identity provider.

        name: A name for people, shown on the sign-in page.
        just_in_time: Whether people who are not members become members at their first sign-in.
        default_roles: The roles of members who are created at their first sign-in.
        email_domains: The domains of email addresses that may sign in; every domain when empty.
        oidc: The settings of an OpenID Connect provider.
        saml: The settings of a SAML identity provider.
        """
        return self._call(CREATE_CONNECTION, locals())

    def get_connection(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Returns one connection, without its secrets.

        id: The connection's id.
        """
        return self._call(GET_CONNECTION, locals())

    def list_connections(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[SsoConnection]:
        """
        Lists the connections of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_CONNECTIONS, locals())

    def update_connection(
        self,
        *,
        id: str,
        name: str | None = None,
        status: Literal["active", "disabled"] | None = None,
        just_in_time: bool | None = None,
        default_role_set: SsoDefaultRoles | None = None,
        email_domain_set: SsoEmailDomains | None = None,
        oidc: OidcConnectionInput | None = None,
        saml: SamlConnectionInput | None = None,
        record_version: int | None = None,
        enforced: bool | None = None,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Changes the fields that are present. oidc and saml are replaced as a whole; a client secret that is empty stays.

        id: The connection's id.
        name: A name for people, shown on the sign-in page.
        status: active or disabled.
        just_in_time: Whether people who are not members become members at their first sign-in.
        default_role_set: The roles of members who are created at their first sign-in.
        email_domain_set: The domains of email addresses that may sign in.
        oidc: The settings of an OpenID Connect provider.
        saml: The settings of a SAML identity provider.
        record_version: Makes the change conditional on this version.
        enforced: Whether members with an address of a verified domain can sign in only with this connection. It needs a verified domain.
        """
        return self._call(UPDATE_CONNECTION, locals())

    def verify_domains(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Looks the TXT records of a connection's email domains up, and stores which domains are verified. A verified domain stays so until it is removed from the email domains.

        id: The connection's id.
        """
        return self._call(VERIFY_DOMAINS, locals())

    def delete_connection(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Deletes a connection and ends the sessions of people who signed in with it.

        id: The connection's id.
        """
        return self._call(DELETE_CONNECTION, locals())

    def set_group_roles(
        self,
        *,
        group: str,
        roles: Sequence[str],
        call: CallOptions | None = None,
    ) -> GroupRoles:
        """
        Sets the roles of a group of the identity provider. They apply to members of the SCIM group with this display name, and to people who sign in with this group.

        group: The name of the group, compared without regard to case.
        roles: The roles of its people.
        """
        return self._call(SET_GROUP_ROLES, locals())

    def list_group_roles(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[GroupRoles]:
        """
        Lists the groups that have roles.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_GROUP_ROLES, locals())

    def get_group_roles(
        self,
        *,
        group: str,
        call: CallOptions | None = None,
    ) -> GroupRoles:
        """
        Returns the roles of one group.

        group: The name of the group, compared without regard to case.
        """
        return self._call(GET_GROUP_ROLES, locals())

    def delete_group_roles(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> GroupRoles:
        """
        Removes the roles of a group.

        id: The record's id.
        """
        return self._call(DELETE_GROUP_ROLES, locals())


class AsyncSsoService(AsyncService):
    """Single sign-on: identity providers that sign people in, and the roles of their groups."""

    async def create_connection(
        self,
        *,
        name: str,
        just_in_time: bool | None = None,
        default_roles: Sequence[str] | None = None,
        email_domains: Sequence[str] | None = None,
        oidc: OidcConnectionInput | None = None,
        saml: SamlConnectionInput | None = None,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Creates a connection to an identity provider.

        name: A name for people, shown on the sign-in page.
        just_in_time: Whether people who are not members become members at their first sign-in.
        default_roles: The roles of members who are created at their first sign-in.
        email_domains: The domains of email addresses that may sign in; every domain when empty.
        oidc: The settings of an OpenID Connect provider.
        saml: The settings of a SAML identity provider.
        """
        return await self._call(CREATE_CONNECTION, locals())

    async def get_connection(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Returns one connection, without its secrets.

        id: The connection's id.
        """
        return await self._call(GET_CONNECTION, locals())

    def list_connections(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[SsoConnection]:
        """
        Lists the connections of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_CONNECTIONS, locals())

    async def update_connection(
        self,
        *,
        id: str,
        name: str | None = None,
        status: Literal["active", "disabled"] | None = None,
        just_in_time: bool | None = None,
        default_role_set: SsoDefaultRoles | None = None,
        email_domain_set: SsoEmailDomains | None = None,
        oidc: OidcConnectionInput | None = None,
        saml: SamlConnectionInput | None = None,
        record_version: int | None = None,
        enforced: bool | None = None,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Changes the fields that are present. oidc and saml are replaced as a whole; a client secret that is empty stays.

        id: The connection's id.
        name: A name for people, shown on the sign-in page.
        status: active or disabled.
        just_in_time: Whether people who are not members become members at their first sign-in.
        default_role_set: The roles of members who are created at their first sign-in.
        email_domain_set: The domains of email addresses that may sign in.
        oidc: The settings of an OpenID Connect provider.
        saml: The settings of a SAML identity provider.
        record_version: Makes the change conditional on this version.
        enforced: Whether members with an address of a verified domain can sign in only with this connection. It needs a verified domain.
        """
        return await self._call(UPDATE_CONNECTION, locals())

    async def verify_domains(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Looks the TXT records of a connection's email domains up, and stores which domains are verified. A verified domain stays so until it is removed from the email domains.

        id: The connection's id.
        """
        return await self._call(VERIFY_DOMAINS, locals())

    async def delete_connection(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> SsoConnection:
        """
        Deletes a connection and ends the sessions of people who signed in with it.

        id: The connection's id.
        """
        return await self._call(DELETE_CONNECTION, locals())

    async def set_group_roles(
        self,
        *,
        group: str,
        roles: Sequence[str],
        call: CallOptions | None = None,
    ) -> GroupRoles:
        """
        Sets the roles of a group of the identity provider. They apply to members of the SCIM group with this display name, and to people who sign in with this group.

        group: The name of the group, compared without regard to case.
        roles: The roles of its people.
        """
        return await self._call(SET_GROUP_ROLES, locals())

    def list_group_roles(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[GroupRoles]:
        """
        Lists the groups that have roles.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_GROUP_ROLES, locals())

    async def get_group_roles(
        self,
        *,
        group: str,
        call: CallOptions | None = None,
    ) -> GroupRoles:
        """
        Returns the roles of one group.

        group: The name of the group, compared without regard to case.
        """
        return await self._call(GET_GROUP_ROLES, locals())

    async def delete_group_roles(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> GroupRoles:
        """
        Removes the roles of a group.

        id: The record's id.
        """
        return await self._call(DELETE_GROUP_ROLES, locals())
