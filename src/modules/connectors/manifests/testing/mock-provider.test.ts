import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { afterFile } from "../../../../../test/harness/after-file.ts";
import { EgressError } from "../../../../platform/egress/index.ts";
import { loadBuiltinProviders } from "../catalogue/builtin-providers.ts";
import { checkInput } from "../domain/check-input.ts";
import type { Action } from "../domain/language/action.ts";
import type { AccountValues, Provider } from "../domain/provider.ts";
import { renderRequest } from "../domain/request/render-request.ts";
import { readResponse } from "../domain/response/read-response.ts";
import type { ActionAnswer } from "../domain/response-spec.ts";
import { createGuardedHttp } from "../guarded-http.ts";
import { type MockProvider, startMock } from "./mock-provider.ts";
import { sampleAccount } from "./sample-account.ts";
import { sampleValue } from "./sample-value.ts";

/** Performs an action once against the mock, without reading further pages. */
async function perform(
  provider: Provider,
  action: Action,
  mock: MockProvider,
  account: AccountValues,
  timeoutMs: number,
) {
  const input = sampleValue(action.inputSchema);
  assert.deepEqual(checkInput(action, input), []);
  const values = { input, account, idempotencyKey: "key-1", nowMs: Date.now() };
  const request = renderRequest(provider, action.request!, values, action);
  assert.ok(!("fault" in request), JSON.stringify(request));
  const http = createGuardedHttp(mock.egress);
  const answer = await http.send(provider, account.settings, request, { timeoutMs, bytesMax: action.responseBytesMax });
  return readResponse(provider, action, answer, { nowMs: Date.now() });
}

const isFault = (reason: string) => (error: unknown) =>
  error instanceof EgressError && error.reason === reason && error.mayHaveArrived;

const examples = ["github", "graphql", "http", "slack", "stripe"];

for (const provider of loadBuiltinProviders().filter(({ key }) => examples.includes(key))) {
  const mock = await startMock(provider);
  afterFile(() => mock.close());
  suite(provider.name, () => {
    for (const action of provider.actions.values()) {
      if (action.runtime.status !== "executable") continue;
      test(`${action.key} succeeds, and every fault of the provider is recognised`, async () => {
        for (const mode of provider.authModes) {
          const account = sampleAccount(provider, mode);
          const once = (timeoutMs = 30_000): Promise<ActionAnswer> =>
            perform(provider, action, mock, account, timeoutMs);
          const success = await once();
          assert.deepEqual(mock.undeclared, []);
          assert.equal(success.class, "ok", JSON.stringify(success));
          assert.ok(mock.requests.at(-1)!.names.includes(action.name));

          mock.fail("*", { kind: "answer", status: 500, body: { message: "Broken." } });
          assert.equal((await once()).class, "unavailable");
          mock.fail("*", { kind: "rate_limited", retryAfterS: 5 });
          const limited = await once();
          assert.equal(limited.class, "rate_limited");
          assert.ok(limited.retryAtMs !== undefined);
          mock.fail("*", { kind: "expired" });
          assert.equal((await once()).class, "auth_expired");
          if (action.response === "json") {
            mock.fail("*", { kind: "malformed" });
            assert.equal((await once()).class, "malformed");
          }
          for (const when of ["before_answer", "in_answer"] as const) {
            mock.fail("*", { kind: "cut", when });
            await assert.rejects(once(), isFault("connection_lost"));
          }
        }
        mock.fail("*", { kind: "slow" });
        const account = sampleAccount(provider, provider.authModes[0]!);
        await assert.rejects(perform(provider, action, mock, account, 100), isFault("timeout"));
      });
    }
  });
}

test("the mock refuses requests that the manifest does not declare", async () => {
  const provider = loadBuiltinProviders().find(({ key }) => key === "github")!;
  const mock = await startMock(provider);
  afterFile(() => mock.close());
  const send = async (method: string, url: string, more: { headers?: Record<string, string>; body?: string } = {}) => {
    const headers = {
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "switchyard",
      ...more.headers,
    };
    const { status } = await mock.egress.request({ method, url, timeoutMs: 30_000, ...more, headers });
    return status;
  };
  const issues = "https://api.github.com/repos/o/r/issues";
  const json = { headers: { "content-type": "application/json" } };
  assert.equal(await send("GET", issues), 200);
  assert.equal(await send("POST", issues, { ...json, body: '{"title":"a"}' }), 200);
  assert.equal(await send("GET", "https://evil.test/repos/o/r/issues"), 501);
  assert.equal(await send("GET", "https://api.github.com/user/emails/x"), 501);
  assert.equal(await send("DELETE", "https://api.github.com/repos/o/r"), 501);
  assert.equal(await send("GET", "https://api.github.com/repos/o/r/issues/1?evil=1"), 501);
  assert.equal(await send("POST", issues, { ...json, body: '{"title":"a","evil":1}' }), 501);
  assert.equal(await send("POST", issues, { headers: { "content-type": "text/plain" }, body: "title=a" }), 501);
  assert.equal(await send("GET", issues, { headers: { accept: "text/html" } }), 501);
  assert.equal(mock.undeclared.length, 7);
});
