// The cost of one action in process: rendering, execution and reading, over the bare guarded request.
import { createActionMetrics } from "../../src/modules/connectors/actions/action-metrics.ts";
import { createActionExecutor } from "../../src/modules/connectors/actions/execution/action-executor.ts";
import { renderPage } from "../../src/modules/connectors/actions/execution/prepared-action.ts";
import { createRateLimits } from "../../src/modules/connectors/actions/execution/rate-limits.ts";
import { checkInput, compileManifest, createGuardedHttp } from "../../src/modules/connectors/manifests/index.ts";
import { createEgress } from "../../src/platform/egress/index.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { createMetrics } from "../../src/platform/telemetry/index.ts";

const document = {
  ...{ manifest: 1, key: "bench", version: "1.0.0", name: "Bench", category: "generic", description: "For measuring." },
  ...{ docs_url: "https://example.com", hosts: ["{settings.base_url}"], base_url: "{settings.base_url}" },
  settings: { base_url: { title: "URL", example: "http://127.0.0.1:1", required: true } },
  auth: {
    api_key: {
      fields: { token: { title: "Token" } },
      apply: { headers: { authorization: "Bearer {credentials.token}" } },
    },
  },
  actions: {
    "note.add": {
      title: "Add a note",
      mutation: { effect: "create", idempotency: "none" },
      input: {
        type: "object",
        required: ["text"],
        properties: { text: { type: "string" } },
        additionalProperties: false,
      },
      request: { method: "POST", path: "/notes", json: { text: "{input.text}" } },
      output: { id: "/id", text: "/text" },
    },
  },
};

export async function measureOverhead(url, seconds) {
  const clock = { now: () => Date.now() };
  const metrics = createMetrics();
  const policy = { mode: "enforce", allowedDomains: [], allowedIpNets: ["127.0.0.0/8"] };
  const egress = createEgress({ ...policy, log: createLog("silent"), metrics, clock });
  const http = createGuardedHttp(egress);
  const { provider } = compileManifest(document);
  const action = provider.actions.get("note.add");
  const settings = { base_url: url };
  const connection = {
    ...{ id: "c", tenantId: "t", providerKey: "bench", credentialVersion: 1, mode: "api_key", settings },
    ...{ captured: {}, account: { id: "", label: "" }, credentials: { token: "0123456789abcdef" }, config: {} },
  };
  const connections = { open: async () => connection, markRejected: async () => "rejected" };
  const executor = createActionExecutor({
    ...{ clock, http, connections, rateLimits: createRateLimits(clock) },
    ...{ metrics: createActionMetrics(metrics), random: () => 0 },
  });
  const input = { text: "hello" };
  const prepared = { tenantId: "t", provider, action, input, connection, idempotencyKey: "k" };
  const fixed = renderPage(prepared, undefined, clock.now());

  const bare = () => http.send(provider, settings, fixed, { timeoutMs: 5000 });
  const whole = async () => {
    if (checkInput(action, input).length > 0) throw new Error("the input is invalid");
    const outcome = await executor(prepared, renderPage(prepared, undefined, clock.now()), clock.now() + 5000);
    if (outcome.status !== "succeeded") throw new Error(outcome.message);
  };
  const times = { bare: [], whole: [] };
  const untilMs = performance.now() + seconds * 1000;
  for (let nth = 0; performance.now() < untilMs; nth++) {
    for (const [name, work] of nth % 2 === 0
      ? [
          ["bare", bare],
          ["whole", whole],
        ]
      : [
          ["whole", whole],
          ["bare", bare],
        ]) {
      const startedAt = performance.now();
      await work();
      if (nth > 200) times[name].push(performance.now() - startedAt);
    }
  }
  egress.close();
  const bareMs = quantile(times.bare, 0.5);
  const actionMs = quantile(times.whole, 0.5);
  return { bareMs, actionMs, overheadUs: (actionMs - bareMs) * 1000, count: times.whole.length };
}

export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)];
}
