import type {
  OidcConnection as OidcMessage,
  SsoService as Rpc,
  SamlConnection as SamlMessage,
  VerifySsoDomainsRequest,
} from "../../../../gen/service/api/sso_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { ConnectionUrls } from "./connection-urls.ts";
import { domainRecordOf, type GroupRoles, type SsoConnection } from "./domain/connection.ts";
import type { ConnectionService, ProviderInput } from "./service.ts";
import { connectionStore, groupRoleStore } from "./store.ts";

export function ssoHandlers(
  service: ConnectionService,
  urlsOf: (connection: SsoConnection) => ConnectionUrls,
): Handlers<typeof Rpc> {
  function fromConnection(connection: SsoConnection) {
    const urls = urlsOf(connection);
    return {
      ...connection,
      ...(connection.kind === "oidc"
        ? { oidc: { ...connection.settings, clientSecret: "" } }
        : { saml: connection.settings }),
      domains: connection.emailDomains.map((domain) => {
        const { name: recordName, value: recordValue } = domainRecordOf(connection, domain);
        return { domain, verified: connection.verifiedDomains.includes(domain), recordName, recordValue };
      }),
      ...{ signInUrl: urls.signIn, callbackUrl: urls.callback, metadataUrl: urls.metadata },
    };
  }

  return {
    async createSsoConnection(context, { name, justInTime, defaultRoles, emailDomains, oidc, saml }) {
      const provider = providerOf(oidc, saml);
      if (provider === undefined)
        throw invalid("oidc", "required", "must be set, or saml (for example: issuer, client_id)");
      const input = { name, justInTime, defaultRoles, emailDomains, provider };
      return { ssoConnection: fromConnection(await service.createConnection(context, input)) };
    },

    async getSsoConnection(context, { id }) {
      return { ssoConnection: fromConnection(await service.getConnection(context, id)) };
    },

    async listSsoConnections(context, request) {
      const page = await context.page("connections", request, [], (wanted) =>
        connectionStore(context.sql).list(context.tenantId, wanted),
      );
      return { ...page, connections: page.connections.map(fromConnection) };
    },

    async updateSsoConnection(context, request) {
      const { id, name, status, justInTime, defaultRoleSet, emailDomainSet, oidc, saml, recordVersion } = request;
      const { enforced } = request;
      const update = {
        ...{ name, justInTime, enforced, status: status as "active" | "disabled" | undefined },
        ...{ defaultRoles: defaultRoleSet?.roles, emailDomains: emailDomainSet?.domains },
        provider: providerOf(oidc, saml),
      };
      const connection = await service.updateConnection(context, id, update, expectedVersion(recordVersion));
      return { ssoConnection: fromConnection(connection) };
    },

    verifySsoDomains: {
      prepare: (context: Context, { id }: VerifySsoDomainsRequest) => service.findVerifiedDomains(context, id),
      async run(context: Context, { id }: VerifySsoDomainsRequest, found: readonly string[]) {
        return { ssoConnection: fromConnection(await service.addVerifiedDomains(context, id, found)) };
      },
    },

    async deleteSsoConnection(context, { id }) {
      return { ssoConnection: fromConnection(await service.deleteConnection(context, id)) };
    },

    async getGroupRoles(context, { group }) {
      return { groupRoles: fromGroupRoles(await service.getGroupRoles(context, group)) };
    },

    async setGroupRoles(context, { group, roles }) {
      return { groupRoles: fromGroupRoles(await service.setGroupRoles(context, group, roles)) };
    },

    async listGroupRoles(context, request) {
      const page = await context.page("groupRoles", request, [], (wanted) =>
        groupRoleStore(context.sql).list(context.tenantId, wanted),
      );
      return { ...page, groupRoles: page.groupRoles.map(fromGroupRoles) };
    },

    async deleteGroupRoles(context, { id }) {
      return { groupRoles: fromGroupRoles(await service.deleteGroupRoles(context, id)) };
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

const fromGroupRoles = (group: GroupRoles) => ({ ...group, group: group.name });
