import assert from "node:assert/strict";
import { test } from "node:test";
import { createEgress, EgressError, type EgressMode } from "../../../platform/egress/index.ts";
import { startReceiver } from "../../../platform/egress/testing/receivers.ts";
import { createLog } from "../../../platform/log/log.ts";
import { createMetrics } from "../../../platform/telemetry/index.ts";
import type { HttpRequest } from "./domain/request-spec.ts";
import { createGuardedHttp } from "./guarded-http.ts";
import { compile, manifestWith } from "./testing/manifest-documents.ts";

function httpWith(mode: EgressMode) {
  const egress = createEgress({
    mode,
    allowedDomains: [],
    allowedIpNets: ["127.0.0.0/8"],
    log: createLog("silent"),
    metrics: createMetrics(),
    clock: { now: () => 0 },
    resolver: async () => [{ address: "127.0.0.1", family: 4 }],
  });
  return createGuardedHttp(egress);
}

const provider = compile(manifestWith({ hosts: ["127.0.0.1"], base_url: "http://127.0.0.1" }));
const get = (url: string): HttpRequest => ({ method: "GET", url, headers: {} });

test("a host that the manifest does not declare is unreachable in every egress mode", async () => {
  const { port, requests } = await startReceiver();
  for (const mode of ["enforce", "shadow"] as const) {
    for (const url of [`http://localhost:${port}/`, "https://evil.test/", `http://evil.test:${port}/`]) {
      await assert.rejects(
        httpWith(mode).send(provider, {}, get(url), { timeoutMs: 1000 }),
        (error) => error instanceof EgressError && error.reason === "denied" && !error.mayHaveArrived,
        `${mode} ${url}`,
      );
    }
  }
  assert.equal(requests.length, 0);
});

test("a declared host is reached, and redirects are returned", async () => {
  const { port } = await startReceiver((_request, response) => {
    response.writeHead(302, { location: "https://evil.test/" });
    response.end("moved");
  });
  const answer = await httpWith("enforce").send(provider, {}, get(`http://127.0.0.1:${port}/`), { timeoutMs: 5000 });
  assert.deepEqual([answer.status, answer.headers.location, String(answer.body)], [302, "https://evil.test/", "moved"]);
});

test("an answer that is larger than allowed is refused", async () => {
  const { port } = await startReceiver((_request, response) => response.end("x".repeat(5000)));
  await assert.rejects(
    httpWith("enforce").send(provider, {}, get(`http://127.0.0.1:${port}/`), { timeoutMs: 5000, bytesMax: 4096 }),
    (error) => error instanceof EgressError && error.reason === "too_large" && error.mayHaveArrived,
  );
});
