import type { SuiteSource } from "../sandbox/index.ts";
import { directoryCases } from "./directory.ts";
import { packCases } from "./packs.ts";
import { createKey } from "./steps/key-steps.ts";
import { createPool } from "./steps/pool-steps.ts";

const asNeighbour = { as: "neighbour" } as const;
const limitPath = "/api/config/values/ratelimit.tenant_rps";

/** Cases about who may do what, and about changes that meet. */
export const accessSuite: SuiteSource = {
  id: "access",
  name: "Access and records",
  description: "What callers can reach, how often, what is trusted, and what happens to changes that meet.",
  version: 3,
  defaults: { capabilities: ["pools"], dryRun: false },
  cases: {
    "access.tenant-isolation": {
      guarantee: "The records of a tenant do not exist for an admin of another tenant.",
      async run(context) {
        const pool_id = await createPool(context, {});
        const path = `/api/pools/${pool_id}`;
        const attempts = {
          read: await context.send("GET", path, asNeighbour),
          change: await context.send("PATCH", path, { ...asNeighbour, body: { description: "changed" } }),
          delete: await context.send("DELETE", path, asNeighbour),
          route: await context.send("POST", "/api/route", { ...asNeighbour, body: { pool_id, type: "task" } }),
          lease: await context.send("POST", `/api/queues/${pool_id}/lease`, { ...asNeighbour, body: {} }),
        };
        for (const [attempt, { status }] of Object.entries(attempts))
          context.expect(`status of ${attempt}`, status, 404);
        const pools = await context.data("GET", "/api/pools", undefined, asNeighbour);
        context.expect("pools that the other tenant lists", pools.length, 0);
        context.expect("the pool is unchanged", (await context.data("GET", path)).record_version, 1);
      },
    },
    "access.record-version": {
      guarantee: "A change of a record that somebody else has changed meanwhile is refused.",
      async run(context) {
        const path = `/api/pools/${await createPool(context, {})}`;
        const change = (description: string, headers = {}, fields = {}) =>
          context.send("PATCH", path, { body: { description, ...fields }, headers });
        const current = { "if-match": '"1"' };
        context.expect("status of the first change", (await change("first", current)).status, 200);
        context.expect("the second with If-Match", (await change("second", current)).code, "VERSION_CONFLICT");
        const stale = await change("second", {}, { record_version: 1 });
        context.expect("the second with record_version", stale.code, "VERSION_CONFLICT");
        const { description, record_version } = await context.data("GET", path);
        context.expect("the first change is kept", description, "first");
        context.expect("version of the record", record_version, 2);
      },
    },
    "access.scopes-enforced": {
      guarantee: "A key does what its scopes allow, and nothing else.",
      async run(context) {
        const create = (as: "viewer" | "stranger" | "nobody") =>
          context.send("POST", "/api/pools", { as, body: { name: context.name(as) } });
        context.expect("a change with a key that reads", (await create("viewer")).code, "PERMISSION_DENIED");
        context.expect("a change without scopes", (await create("stranger")).code, "PERMISSION_DENIED");
        context.expect("a change without a key", (await create("nobody")).code, "UNAUTHENTICATED");
        const { status } = await context.send("GET", "/api/pools", { as: "viewer" });
        context.expect("a read with a key that reads", status, 200);
        const listed = await context.data("GET", "/api/pools?limit=200");
        const created = listed.filter(({ name }: { name: string }) => name.startsWith(context.name()));
        context.expect("pools that were created", created.length, 0);
      },
    },
    "access.revoked-key": {
      guarantee: "A revoked key is refused at once.",
      capabilities: ["api_keys"],
      async run(context) {
        const { id, caller } = await createKey(context, "viewer");
        context.expect("status before", (await context.send("GET", "/api/v2/environments", caller)).status, 200);
        await context.send("POST", `/api/v2/api-keys/${id}/revoke`, { body: {} });
        const { code } = await context.send("GET", "/api/v2/environments", caller);
        context.expect("a call with the revoked key", code, "UNAUTHENTICATED");
      },
    },
    "access.secret-once": {
      guarantee: "The text of a key is returned once, even if its creation is repeated.",
      capabilities: ["api_keys"],
      async run(context) {
        const body = { name: context.name(), roles: ["viewer"] };
        const headers = { "idempotency-key": context.name() };
        const create = () => context.send("POST", "/api/v2/api-keys", { body, headers });
        const secret: string = (await create()).body?.data?.secret ?? "";
        context.expect("the creation returns it", secret !== "", true);
        const repeated = await create();
        context.expect("status of the repeat", repeated.status, 200);
        context.expect("the repeat returns it", repeated.text.includes(secret), false);
        const listed = await context.send("GET", "/api/v2/api-keys?limit=100");
        context.expect("the list returns it", listed.text.includes(secret), false);
      },
    },
    "access.stored-secret-hidden": {
      guarantee: "No caller gets the value of a stored secret, and viewers do not even see that it exists.",
      capabilities: ["secrets"],
      async run(context) {
        const value = `planted-${context.name()}`;
        const created = await context.send("POST", "/api/v2/secrets", { body: { name: context.name(), value } });
        const path = `/api/v2/secrets/${created.body?.data?.id}`;
        const shown = [
          created,
          await context.send("GET", path),
          await context.send("GET", "/api/v2/secrets?limit=100"),
        ];
        const isRead = shown.every(({ status }) => status === 200);
        context.expect("every response succeeds", isRead, true);
        const isRevealed = shown.some(({ text }) => text.includes(value));
        context.expect("a response reveals it", isRevealed, false);
        const denied = await context.send("GET", path, { as: "viewer" });
        context.expect("a read by a viewer", denied.code, "PERMISSION_DENIED");
      },
    },
    "access.no-escalation": {
      guarantee: "A key cannot create a key that reaches further than itself.",
      capabilities: ["api_keys"],
      async run(context) {
        const { caller } = await createKey(context, "admin", { environment_mode: "non_production_only" });
        const create = (environment_mode: string) =>
          context.send("POST", "/api/v2/api-keys", {
            ...caller,
            body: { name: context.name(environment_mode), roles: ["viewer"], environment_mode },
          });
        context.expect("a key for all environments", (await create("any")).code, "PERMISSION_DENIED");
        context.expect("status of a key for the same ones", (await create("non_production_only")).status, 200);
      },
    },
    "access.subscriber-token": {
      guarantee: "The token of a subscriber opens the inbox of this subscriber, and nothing else.",
      capabilities: ["subscribers"],
      async run(context) {
        const base = "/api/v2/notification/subscribers";
        const add = async (name: string): Promise<string> =>
          (await context.data("POST", base, { external_id: context.name(name) })).id;
        const [own, other] = [await add("own"), await add("other")];
        const { token } = await context.data("POST", `${base}/${own}/tokens`, {});
        const read = (path: string) =>
          context.send("GET", path, { as: "nobody", headers: { authorization: `Bearer ${token}` } });
        context.expect("status of the own inbox", (await read(`${base}/${own}/inbox`)).status, 200);
        context.expect("the inbox of somebody else opens", (await read(`${base}/${other}/inbox`)).status < 300, false);
        context.expect("the list of subscribers opens", (await read(base)).status < 300, false);
      },
    },
    "access.health-report": {
      guarantee: "The health of an environment is judged by every signal, and another tenant cannot read it.",
      capabilities: ["health", "environments"],
      async run(context) {
        const environment = await context.data("POST", "/api/v2/environments", { key: "health", mode: "MODE_SANDBOX" });
        const read = (options: object = {}) =>
          context.send("GET", `/api/operational-health/report?environment=${environment.id}`, options);
        const { signals = [], ruleset } = (await read()).body?.data ?? {};
        context.expect("version of the rules", ruleset?.version ?? "", "v1");
        context.expect("signals", signals.length, 9);
        context.expect("a read of another tenant", (await read(asNeighbour)).code, "NOT_FOUND");
      },
    },
    "access.promotion-gated": {
      guarantee: "A change is not promoted before a person has approved it.",
      capabilities: ["promotions", "pools"],
      async run(context) {
        const ref = await createPool(context, {});
        const staged = await context.data("POST", `/api/pools/${ref}/versions`, { strategy: "round_robin" });
        const artifacts = [{ kind: "routing", ref, version: staged.version }];
        const candidate = { name: context.name(), artifacts, waiver_reason: "conformance" };
        const { id } = await context.data("POST", "/api/promotions/candidates", candidate);
        const call = (verb: string) => context.send("POST", `/api/promotions/candidates/${id}/${verb}`, { body: {} });
        context.expect("the approval of a key counts", (await call("approve")).status < 300, false);
        context.expect("the promotion succeeds", (await call("promote")).status < 300, false);
        const { strategy } = await context.data("GET", `/api/pools/${ref}`);
        context.expect("strategy of the pool", strategy, "weighted_random");
      },
    },
    "access.rate-limit": {
      guarantee: "A tenant that calls too often is told when to call again, and other tenants do not notice.",
      capabilities: ["dynamic_config"],
      offBy: (config) => (config["cache.backend"] === "none" ? "cache.backend" : undefined),
      async run(context) {
        const call = () => context.send("GET", "/api/v2/environments", { ...asNeighbour, isLimitExpected: true });
        await context.data("PUT", limitPath, { value: 1 }, asNeighbour);
        const limited = await context.until(call, ({ code }) => code === "RATE_LIMITED");
        context.expect("a call beyond the limit", limited.code, "RATE_LIMITED");
        context.expect("it says when to call again", Number(limited.header("retry-after")) > 0, true);
        const { status } = await context.send("GET", "/api/v2/environments");
        context.expect("status of a call of another tenant", status, 200);
        await context.data("DELETE", limitPath, undefined, asNeighbour);
      },
    },
    ...directoryCases,
    ...packCases,
  },
};
