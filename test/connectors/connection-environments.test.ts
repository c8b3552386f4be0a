import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { MockProvider } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName } from "../routing/tenant-fixture.ts";
import { type AcmeTenant, newAcmeTenant, startAcme } from "./acme.ts";

const connections = "/api/v2/connector/connections";
const executions = "/api/v2/connector/executions";

describe("connections belong to environments", () => {
  let service: TestService;
  let mock: MockProvider;
  let own: AcmeTenant;
  let live: string;
  let lab: string;
  let inProduction: ReturnType<typeof restClient>;
  let outside: ReturnType<typeof restClient>;

  before(async () => {
    service = await startService();
    mock = await startAcme();
    own = await newAcmeTenant(service, mock);
    await own.ok("POST", "/api/v2/environments", { key: "lab" });
    live = own.connectionId;
    lab = await own.connect({ environment_id: "lab" });
    const keyOf = async (environment_mode: string) => {
      const { data } = await own.ok("POST", "/api/v2/api-keys", {
        name: freshName(),
        roles: ["admin"],
        environment_mode,
      });
      return restClient(service.baseUrl, data.secret);
    };
    inProduction = await keyOf("production_only");
    outside = await keyOf("non_production_only");
  });

  test("a key of one environment neither sees, changes, tests, refreshes nor revokes connections of another", async () => {
    for (const [rest, seen, hidden] of [
      [inProduction, live, lab],
      [outside, lab, live],
    ] as const) {
      const listed = await rest.call("GET", connections);
      assert.deepEqual(
        listed.body.data.map(({ id }: { id: string }) => id),
        [seen],
      );
      assert.equal((await rest.call("GET", `${connections}/${seen}`)).status, 200);
      for (const [method, path, body] of [
        ["GET", "", undefined],
        ["PATCH", "", { name: "taken" }],
        ["PATCH", "", { credentials: { token: "taken" } }],
        ["POST", "/test", {}],
        ["POST", "/refresh", {}],
        ["POST", "/revoke", {}],
      ] as const) {
        const { status, body: answer } = await rest.call(method, `${connections}/${hidden}${path}`, body);
        assert.deepEqual([status, answer.errorCode], [403, "PERMISSION_DENIED"], `${method} ${path}`);
      }
    }
    const inLab = await own.ok("GET", `${connections}?environment_id=lab`);
    assert.deepEqual(
      inLab.data.map(({ id, status }: { id: string; status: string }) => [id, status]),
      [[lab, "active"]],
    );
    const { status, body } = await inProduction.call("POST", connections, {
      ...{ name: "n", provider_key: "acme", environment_id: "lab", credentials: { token: "token" } },
      settings: { base_url: `http://127.0.0.1:${mock.port}` },
    });
    assert.equal(status, 403, JSON.stringify(body));
  });

  test("a key of one environment neither executes actions with connections of another nor reads their executions", async () => {
    const request = { connection_id: lab, input: { text: "hi" } };
    const { body } = await outside.call("POST", "/api/v2/connector/actions/acme.note.add:execute", request);
    const { id } = body.data.execution;
    const from = mock.requests.length;
    for (const dry_run of [false, true]) {
      const path = "/api/v2/connector/actions/acme.note.add:execute";
      assert.equal((await inProduction.call("POST", path, { ...request, dry_run })).status, 403);
    }
    assert.equal(mock.requests.length, from);
    for (const path of [`/${id}`, `/${id}:explain`, `?connection_id=${lab}`]) {
      assert.equal((await inProduction.call("GET", executions + path)).status, 403, path);
      assert.equal((await outside.call("GET", executions + path)).status, 200, path);
    }
    assert.deepEqual((await inProduction.call("GET", executions)).body.data, []);
    assert.equal((await outside.call("GET", executions)).body.data.length, 1);
  });

  test("a connect session reconnects only connections of its own environment", async () => {
    const session = { connection_id: lab, end_user: { id: "ada" }, success_redirect_uri: "https://app.example/done" };
    const sessions = "/api/v2/connector/connect-sessions";
    assert.equal((await inProduction.call("POST", sessions, session)).status, 403);
    const mixed = await own.rest.call("POST", sessions, session);
    assert.deepEqual([mixed.status, mixed.body.violations?.[0].field], [400, "connection_id"], mixed.text);
  });

  test("workflow runs and deliveries use connections of their own kind of environment only", async () => {
    const from = mock.requests.length;
    const key = `w${freshName()}`;
    const steps = [{ id: "call", action: { action: "acme.note.add", connection: live }, with: { text: "hi" } }];
    await own.ok("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } });
    await own.ok("POST", `/api/workflow-definitions/${key}/publish`, {});
    const started = await own.ok("POST", "/api/workflow-runs", { definition: key, environment_id: "lab" });
    const ended = await until(
      async () => (await own.ok("GET", `/api/workflow-runs/${started.data.run.id}`)).data,
      ({ status }) => ["succeeded", "failed"].includes(status),
    );
    assert.equal(ended.status, "failed");
    assert.match(ended.error.message, /no access to the environment production/);

    const pool = await own.pool();
    const action = { key: "acme.note.add", connection_id: lab, input: { text: "hi" } };
    await own.recipient(pool, { delivery: { mode: "MODE_PUSH", action } });
    const { queue_item_id: id } = await own.route(pool, { key: "ada" });
    await own.itemIn(pool, id, "dead_lettered");
    assert.equal((await own.deadLetters(pool))[0].reason_code, "permission_denied");
    assert.equal(mock.requests.length, from);
  });
});
