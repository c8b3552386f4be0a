import { after } from "node:test";
import type postgres from "postgres";
import { Governance_Audience } from "../../gen/service/options/governance_pb.ts";
import type { Operation } from "../../src/definitions/index.ts";
import { signServiceToken } from "../../src/platform/tokens/index.ts";
import { creatorOf, freshWord, idFields, type Json, operations, validRequest } from "../harness/operations.ts";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { serviceTokenSecret, startService, type TestService, type TestSettings } from "../harness/service.ts";
import { type Caller, callOperation, type Outcome, protocols } from "../harness/wire.ts";

export { operations, protocols };

/** A tenant and those who call for it. */
export interface Party {
  readonly tenantId: string;
  readonly isPlatform: boolean;
  /** An admin on the external plane. */
  readonly admin: Caller;
  /** A key without roles and scopes. */
  readonly nobody: Caller;
  /** A key with every scope and no role. */
  readonly roleless: Caller;
  /** A service on the internal plane. */
  readonly service: Caller;
}

/** A node with a platform tenant and two others. */
export interface Stage {
  readonly service: TestService;
  readonly sql: postgres.Sql;
  readonly platform: Party;
  readonly own: Party;
  readonly foreign: Party;
}

/** Starts a node and fills its stage. */
export async function setStage(settings: TestSettings = {}): Promise<Stage> {
  const service = await startService(settings);
  const rest = restClient(service.baseUrl, service.adminKey);
  const tenants = await rest.call("GET", "/api/tenants");
  const platform = await partyOf(service, tenants.body.data[0].id, service.adminKey, true);
  const make = async (name: string): Promise<Party> => {
    const { body } = await rest.call("POST", "/api/tenants", { name, issue_admin_key: true });
    return partyOf(service, body.data.tenant.id, body.data.admin_key, false);
  };
  const sql = connect(service.databaseUrl, 2);
  pools.push(sql);
  return { service, sql, platform, own: await make("own"), foreign: await make("foreign") };
}

const pools: postgres.Sql[] = [];
after(async () => {
  for (const pool of pools) await pool.end({ timeout: 1 });
});

async function partyOf(
  { baseUrl, internalUrl }: TestService,
  tenantId: string,
  adminKey: string,
  isPlatform: boolean,
): Promise<Party> {
  const keyWith = async (request: object): Promise<Caller> => {
    const created = await restClient(baseUrl, adminKey).call("POST", "/api/v2/api-keys", {
      name: "matrix",
      ...request,
    });
    return { baseUrl, headers: { "x-api-key": created.body.data.secret } };
  };
  const token = await signServiceToken({ issuer: "tests", subject: "matrix", tenantId }, serviceTokenSecret);
  return {
    tenantId,
    isPlatform,
    admin: { baseUrl, headers: { "x-api-key": adminKey } },
    nobody: await keyWith({}),
    roleless: await keyWith({ scopes: ["*:*"] }),
    service: { baseUrl: internalUrl, headers: { authorization: `Bearer ${token}` } },
  };
}

/** Who can call an operation: internal-only ones are reached on the internal plane alone. */
export function callerFor(party: Party, { governance }: Operation): Caller {
  return governance.internalOnly ? party.service : party.admin;
}

/** Ids that name nothing of any tenant's: what they stand for is the same for all. */
export const sharedIds: ReadonlySet<string> = new Set(["service.api.DiscoveryService/GetCapability.id"]);

/** What no definition tells about a valid request: which settings there are, which text is a key. */
const known: Readonly<Record<string, (party: Party) => Promise<Json> | Json>> = {
  "service.api.DiscoveryService/GetCapability": () => ({ id: "tenants" }),
  "service.api.ConfigService/SetConfigValue": () => ({ key: settingKey(), value: 100 + calls }),
  "service.api.ConfigService/ResetConfigValue": async (party) => {
    const key = settingKey();
    await must("ConfigService/SetConfigValue", party, { key, value: 90 });
    return { key };
  },
  "service.api.ApiKeyService/VerifyApiKey": async (party) => {
    const { body } = await must("ApiKeyService/CreateApiKey", party, { name: freshWord() });
    return { secret: body.data.secret };
  },
  // Follows on from an event behind which there is another, so that an open stream shows itself at once.
  "service.api.EventService/SubscribeEvents": async (party) => {
    const { body } = await must("EventService/PublishEvent", party, { type: "matrix.first" });
    await must("EventService/PublishEvent", party, { type: "matrix.second" });
    return { cursor: body.data.id };
  },
};

let calls = 0;

function settingKey(): string {
  return ["events.retention_days", "api.max_concurrent_requests_per_tenant"][calls++ % 2]!;
}

/** A valid request of a party's; every record that it names is made for it. */
export async function requestFor(operation: Operation, party: Party): Promise<Json> {
  const given: Json = (await known[operation.id]?.(party)) ?? {};
  for (const field of idFields(operation)) given[field.name] ??= await recordFor(operation, field.name, party);
  return validRequest(operation, given);
}

/** The id of a new record of a party's that a field of an operation can name. */
export async function recordFor(operation: Operation, fieldName: string, party: Party): Promise<string> {
  const field = operation.method.input.fields.find(({ name }) => name === fieldName)!;
  const creator = creatorOf(operation, field);
  // A tenant is made by the platform only; any other party's own is itself.
  if (creator.governance.audience === Governance_Audience.OPERATOR && !party.isPlatform) return party.tenantId;
  const { body } = await must(creator, party, await requestFor(creator, party));
  const record = body.data.id === undefined ? Object.values<Json>(body.data)[0]! : body.data;
  return record.id as string;
}

/** Calls an operation that has to go well. */
async function must(named: Operation | string, party: Party, message: Json): Promise<Outcome> {
  const operation = typeof named === "string" ? operations.find(({ id }) => id === `service.api.${named}`)! : named;
  const outcome = await callOperation("REST", operation, callerFor(party, operation), message);
  if (outcome.code !== "OK") throw new Error(`${operation.id} answered ${outcome.text} to ${JSON.stringify(message)}`);
  return outcome;
}
