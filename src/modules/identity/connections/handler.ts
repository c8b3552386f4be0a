import { create } from "@bufbuild/protobuf";
import {
  CreateSsoConnectionResponseSchema,
  DeleteGroupRolesResponseSchema,
  DeleteSsoConnectionResponseSchema,
  GetGroupRolesResponseSchema,
  GetSsoConnectionResponseSchema,
  type GroupRoles as GroupRolesMessage,
  GroupRolesSchema,
  ListGroupRolesResponseSchema,
  ListSsoConnectionsResponseSchema,
  type OidcConnection as OidcMessage,
  type SsoService as Rpc,
  type SamlConnection as SamlMessage,
  SetGroupRolesResponseSchema,
  type SsoConnection as SsoConnectionMessage,
  SsoConnectionSchema,
  UpdateSsoConnectionResponseSchema,
} from "../../../../gen/service/api/sso_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, stampFields } from "../../../platform/records/index.ts";
import type { ConnectionUrls } from "./connection-urls.ts";
import type { GroupRoles, SsoConnection } from "./domain/connection.ts";
import type { ConnectionService, ProviderInput } from "./service.ts";
import { connectionStore, groupRoleStore } from "./store.ts";

interface Dependencies {
  readonly service: ConnectionService;
  readonly cursors: Cursors;
  readonly urlsOf: (connection: SsoConnection) => ConnectionUrls;
}

export function ssoHandlers({ service, cursors, urlsOf }: Dependencies): Handlers<typeof Rpc> {
  const fromConnection = (connection: SsoConnection) => toMessage(connection, urlsOf(connection));
  return {
    async createSsoConnection(context, { name, justInTime, defaultRoles, emailDomains, oidc, saml }) {
      const provider = providerOf(oidc, saml);
      if (provider === undefined)
        throw invalid("oidc", "required", "must be set, or saml (for example: issuer, client_id)");
      const input = { name, justInTime, defaultRoles, emailDomains, provider };
      const ssoConnection = fromConnection(await service.createConnection(context, input));
      return create(CreateSsoConnectionResponseSchema, { ssoConnection });
    },

    async getSsoConnection(context, { id }) {
      const ssoConnection = fromConnection(await service.getConnection(context, id));
      return create(GetSsoConnectionResponseSchema, { ssoConnection });
    },

    async listSsoConnections({ tenantId, sql, operation }, request) {
      const { items, ...page } = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id },
        (connection: SsoConnection) => connection.id,
        (wanted) => connectionStore(sql).list(tenantId, wanted),
      );
      return create(ListSsoConnectionsResponseSchema, { ...page, connections: items.map(fromConnection) });
    },

    async updateSsoConnection(context, request) {
      const { id, name, status, justInTime, defaultRoleSet, emailDomainSet, oidc, saml, recordVersion } = request;
      const update = {
        ...{ name, justInTime, status: status as "active" | "disabled" | undefined },
        ...{ defaultRoles: defaultRoleSet?.roles, emailDomains: emailDomainSet?.domains },
        provider: providerOf(oidc, saml),
      };
      const connection = await service.updateConnection(context, id, update, expectedVersion(recordVersion));
      return create(UpdateSsoConnectionResponseSchema, { ssoConnection: fromConnection(connection) });
    },

    async deleteSsoConnection(context, { id }) {
      const ssoConnection = fromConnection(await service.deleteConnection(context, id));
      return create(DeleteSsoConnectionResponseSchema, { ssoConnection });
    },

    async getGroupRoles(context, { group }) {
      const groupRoles = fromGroupRoles(await service.getGroupRoles(context, group));
      return create(GetGroupRolesResponseSchema, { groupRoles });
    },

    async setGroupRoles(context, { group, roles }) {
      const groupRoles = fromGroupRoles(await service.setGroupRoles(context, group, roles));
      return create(SetGroupRolesResponseSchema, { groupRoles });
    },

    async listGroupRoles({ tenantId, sql, operation }, request) {
      const { items, ...page } = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id },
        (group: GroupRoles) => group.id,
        (wanted) => groupRoleStore(sql).list(tenantId, wanted),
      );
      return create(ListGroupRolesResponseSchema, { ...page, groupRoles: items.map(fromGroupRoles) });
    },

    async deleteGroupRoles(context, { id }) {
      const groupRoles = fromGroupRoles(await service.deleteGroupRoles(context, id));
      return create(DeleteGroupRolesResponseSchema, { groupRoles });
    },
  };
}

function providerOf(oidc: OidcMessage | undefined, saml: SamlMessage | undefined): ProviderInput | undefined {
  if (oidc !== undefined && saml !== undefined) throw invalid("saml", "kind", "must not be set together with oidc");
  if (oidc !== undefined) {
    const { issuer, clientId, clientSecret, scopes, groupsClaim, trustEmail } = oidc;
    return { kind: "oidc", clientSecret, settings: { issuer, clientId, scopes, groupsClaim, trustEmail } };
  }
  if (saml === undefined) return undefined;
  const { idpEntityId, ssoUrl, sloUrl, certificates, emailAttribute, groupsAttribute, nameAttribute } = saml;
  const { allowIdpInitiated, requireEncryption } = saml;
  return {
    kind: "saml",
    settings: {
      ...{ idpEntityId, ssoUrl, sloUrl, certificates, emailAttribute, groupsAttribute, nameAttribute },
      ...{ allowIdpInitiated, requireEncryption },
    },
  };
}

function toMessage(connection: SsoConnection, urls: ConnectionUrls): SsoConnectionMessage {
  const { tenantId, id, name, kind, status, justInTime, defaultRoles, emailDomains } = connection;
  const provider =
    connection.kind === "oidc"
      ? { oidc: { ...connection.settings, scopes: [...connection.settings.scopes] } }
      : { saml: { ...connection.settings, certificates: [...connection.settings.certificates] } };
  return create(SsoConnectionSchema, {
    ...{ tenantId, id, name, kind, status, justInTime },
    ...{ defaultRoles: [...defaultRoles], emailDomains: [...emailDomains] },
    ...provider,
    ...{ signInUrl: urls.signIn, callbackUrl: urls.callback, metadataUrl: urls.metadata },
    ...stampFields(connection),
  });
}

function fromGroupRoles(group: GroupRoles): GroupRolesMessage {
  const { tenantId, id, name, roles } = group;
  return create(GroupRolesSchema, { tenantId, id, group: name, roles: [...roles], ...stampFields(group) });
}
