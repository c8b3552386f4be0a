import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type Json, operations } from "../harness/operations.ts";
import { type RestClient, type RestResponse, restClient } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { callOperation, type Outcome, protocols } from "../harness/wire.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
export type ResponseData = any;

/** A tenant with helpers for its pools. */
export interface TenantFixture {
  readonly id: string;
  readonly key: string;
  readonly rest: RestClient;
  /** Calls an operation that must succeed. */
  ok(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ResponseData>;
  /** Calls an operation that must fail with this error. */
  refused(code: string, method: string, path: string, body?: unknown): Promise<RestResponse>;
  /** Creates a pool; returns its id. */
  pool(fields?: object): Promise<string>;
  /** Adds a recipient; returns its id. */
  recipient(poolId: string, fields?: object): Promise<string>;
  /** Adds a rule; returns its id. */
  rule(poolId: string, action: object, fields?: object): Promise<string>;
  /** Routes an item; returns the decision. */
  route(poolId: string, fields?: object): Promise<ResponseData>;
  /** Routes a batch; returns the results. */
  routeAll(items: readonly object[]): Promise<ResponseData[]>;
  /** Leases items. */
  lease(poolId: string, fields?: object): Promise<ResponseData[]>;
  /** Leases repeatedly until as many items are returned. */
  leaseMany(poolId: string, count: number, fields?: object): Promise<ResponseData[]>;
  /** Leases repeatedly until an item is returned. */
  leaseOne(poolId: string, fields?: object): Promise<ResponseData>;
  complete(item: ResponseData, fields?: object): Promise<ResponseData>;
  fail(item: ResponseData, fields?: object): Promise<ResponseData>;
  item(poolId: string, id: string): Promise<ResponseData>;
  /** Reads an item until it reaches a state. */
  itemIn(poolId: string, id: string, state: string): Promise<ResponseData>;
  status(poolId: string): Promise<ResponseData>;
  deadLetters(poolId: string): Promise<ResponseData[]>;
  /** A client with a new key. */
  caller(fields: object): Promise<RestClient>;
}

/** A unique name. */
export function freshName(): string {
  return randomBytes(6).toString("hex");
}

/** Creates a tenant with an admin. */
export async function newTenant(
  node: { readonly baseUrl: string; readonly adminKey: string },
  fields: object = {},
): Promise<TenantFixture> {
  const platform = restClient(node.baseUrl, node.adminKey);
  const created = await platform.call("POST", "/api/tenants", { name: freshName(), issue_admin_key: true, ...fields });
  assert.equal(created.status, 200, created.text);
  const { admin_key: key, id } = created.body.data;
  return tenantFixture(restClient(node.baseUrl, key), id, key, node.baseUrl);
}

/** The same tenant on another node. */
export function tenantAt(
  { baseUrl }: { readonly baseUrl: string },
  { id, key }: Pick<TenantFixture, "id" | "key">,
): TenantFixture {
  return tenantFixture(restClient(baseUrl, key), id, key, baseUrl);
}

/** Helpers that act as one tenant's admin. */
function tenantFixture(rest: RestClient, id: string, key: string, baseUrl: string): TenantFixture {
  const ok: TenantFixture["ok"] = async (method, path, body, headers) => {
    const answer = await rest.call(method, path, body, headers);
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const created = async (path: string, body: object): Promise<string> => (await ok("POST", path, body)).data.id;
  const lease: TenantFixture["lease"] = async (poolId, fields = {}) =>
    (await ok("POST", `/api/queues/${poolId}/lease`, fields)).data.items;
  const leaseMany: TenantFixture["leaseMany"] = async (poolId, count, fields = {}) => {
    const items: ResponseData[] = [];
    await until(async () => {
      items.push(...(await lease(poolId, { max_items: count - items.length, wait_s: 5, ...fields })));
      return items.length >= count;
    });
    return items;
  };
  const item: TenantFixture["item"] = async (poolId, itemId) =>
    (await ok("GET", `/api/queues/${poolId}/items/${itemId}`)).data;
  const told = async ({ pool_id, queue_item_id, lease_token }: ResponseData, verb: string, fields: object) =>
    (await ok("POST", `/api/queues/${pool_id}/items/${queue_item_id}/${verb}`, { lease_token, ...fields })).data;
  return {
    id,
    key,
    rest,
    ok,
    async refused(code, method, path, body) {
      const answer = await rest.call(method, path, body);
      assert.equal(answer.body?.errorCode, code, `${method} ${path}: ${answer.text}`);
      return answer;
    },
    pool: (fields = {}) => created("/api/pools", { name: freshName(), ...fields }),
    recipient: (poolId, fields = {}) => created(`/api/pools/${poolId}/recipients`, { name: freshName(), ...fields }),
    rule: (poolId, action, fields = {}) =>
      created(`/api/pools/${poolId}/rules`, { name: freshName(), action, ...fields }),
    route: async (poolId, fields = {}) =>
      (await ok("POST", "/api/route", { pool_id: poolId, type: "task", ...fields })).data,
    routeAll: async (items) => (await ok("POST", "/api/route:batch", { items })).data.results,
    lease,
    leaseMany,
    leaseOne: async (poolId, fields) => (await leaseMany(poolId, 1, fields))[0],
    complete: (leased, fields = {}) => told(leased, "complete", fields),
    fail: (leased, fields = {}) => told(leased, "fail", fields),
    item,
    itemIn: (poolId, itemId, state) =>
      until(
        () => item(poolId, itemId),
        (each) => each.state === state,
      ),
    status: async (poolId) => (await ok("GET", `/api/queues/${poolId}/status`)).data,
    deadLetters: async (poolId) => (await ok("GET", `/api/dlq/${poolId}`)).data,
    async caller(fields) {
      const { data } = await ok("POST", "/api/v2/api-keys", { name: freshName(), ...fields });
      return restClient(baseUrl, data.secret);
    },
  };
}

/** The result of a call in one protocol, with the data in REST form. */
export interface ProtocolOutcome extends Outcome {
  readonly protocol: string;
  readonly data: ResponseData;
}

/** Calls an operation, named `Service/Method`, once in each protocol. */
export async function inEachProtocol(
  { baseUrl }: { readonly baseUrl: string },
  { key }: Pick<TenantFixture, "key">,
  name: string,
  message: Json,
): Promise<ProtocolOutcome[]> {
  const operation = operations.find(({ id }) => id === `service.api.${name}`)!;
  const answers: ProtocolOutcome[] = [];
  for (const protocol of protocols) {
    const outcome = await callOperation(protocol, operation, { baseUrl, headers: { "x-api-key": key } }, message);
    const field = operation.bindings[0]!.responseBody;
    const whole = protocol === "REST" ? outcome.body.data : snakeCased(outcome.body);
    answers.push({ ...outcome, protocol, data: protocol === "REST" || field === "" ? whole : whole[field] });
  }
  return answers;
}

function snakeCased(value: unknown): ResponseData {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== "object" || value === null) return value;
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [snake(name), snakeCased(each)]));
}
