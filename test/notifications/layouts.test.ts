import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { operations } from "../harness/operations.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { callOperation, type Outcome, type Protocol, protocols } from "../harness/wire.ts";
import { freshName, newSender, type Sender } from "./sender-fixture.ts";

let service: TestService;
before(async () => {
  service = await startService();
});

/** A client of LayoutService over one of the protocols. */
function callerOf(protocol: Protocol, key: string) {
  const caller = { baseUrl: service.baseUrl, headers: { "x-api-key": key } };
  const call = (method: string, message: object): Promise<Outcome> => {
    const operation = operations.find(({ id }) => id === `service.api.LayoutService/${method}`)!;
    return callOperation(protocol, operation, caller, message as never);
  };
  return {
    call,
    /** The result of a successful call, without the REST envelope. */
    async ok(method: string, message: object) {
      const outcome = await call(method, message);
      assert.equal(outcome.code, "OK", outcome.text);
      if (protocol === "REST") return outcome.body.data;
      return outcome.body.layout ?? outcome.body.layouts ?? outcome.body;
    },
  };
}

async function keyOf(sender: Sender, request: object): Promise<string> {
  const { body } = await sender.rest.call("POST", "/api/v2/api-keys", { name: "layouts", ...request });
  return body.data.secret;
}

const frame = { channel: "email", body: "<main>{{ content }}</main>" };

for (const protocol of protocols) {
  suite(`layouts over ${protocol}`, () => {
    test("a layout is created, read, updated, listed and deleted", async () => {
      const sender = await newSender(service);
      const { ok, call } = callerOf(protocol, await keyOf(sender, { roles: ["operator"] }));
      const made = await ok("CreateLayout", { ...frame, name: "Frame", engine: "liquid" });
      assert.deepEqual([made.version, made.channel, made.engine, made.variables ?? []], [1, "email", "liquid", []]);
      assert.deepEqual(await ok("GetLayout", { id: made.id }), made);

      const text = { name: "Frame", engine: "liquid", body: "<div>{{ content }}{{ payload.footer }}</div>" };
      const updated = await ok("UpdateLayout", { id: made.id, ...text, version: 1 });
      assert.deepEqual([updated.version, updated.variables], [2, ["payload.footer"]]);
      const stale = await call("UpdateLayout", { id: made.id, ...text, version: 1 });
      assert.deepEqual([stale.code, stale.status], ["VERSION_CONFLICT", 409]);
      assert.equal((await call("UpdateLayout", { id: made.id, ...text })).code, "INVALID_ARGUMENT");

      const copy = await ok("DuplicateLayout", { id: made.id });
      assert.deepEqual([copy.name, copy.isDefault ?? copy.is_default ?? false], ["Frame (copy)", false]);
      await ok("SetDefaultLayout", { id: made.id });
      await ok("SetDefaultLayout", { id: copy.id });
      const listed = (await ok("ListLayouts", { channel: "email" })) as Record<string, unknown>[];
      const defaults = listed.filter((layout) => layout.isDefault ?? layout.is_default);
      assert.deepEqual(
        defaults.map((layout) => layout.id),
        [copy.id],
      );
      assert.equal(((await ok("ListLayouts", { channel: "inapp" })) as unknown[]).length ?? 0, 0);

      const shown = await ok("PreviewLayout", { id: made.id, payload: { footer: "<Bye>" } });
      assert.equal(shown.body, "<div><div>[content]</div>&lt;Bye&gt;</div>");
      assert.deepEqual(shown.resolvedVariables ?? shown.resolved_variables, ["payload.footer"]);
      const bare = await ok("PreviewLayout", { id: made.id });
      assert.deepEqual(bare.unresolvedVariables ?? bare.unresolved_variables, ["payload.footer"]);

      assert.equal((await ok("DeleteLayout", { id: made.id })).id, made.id);
      assert.equal((await call("GetLayout", { id: made.id })).code, "NOT_FOUND");
    });

    test("a layout that a workflow names cannot be deleted, and its usage lists the workflow", async () => {
      const sender = await newSender(service);
      const { ok, call } = callerOf(protocol, await keyOf(sender, { roles: ["admin"] }));
      const { id } = await ok("CreateLayout", { ...frame, name: "Frame" });
      const key = await sender.workflow({ channels: { email: { subject: "s", body: "b", layout_id: id } } });
      const usage = await ok("GetLayoutUsage", { id });
      assert.deepEqual(usage.workflowKeys ?? usage.workflow_keys, [key]);
      const refused = await call("DeleteLayout", { id });
      assert.equal(refused.code, "IN_USE");
      if (protocol === "REST") assert.deepEqual([refused.status, refused.body.retryable], [409, false]);
      assert.ok(refused.text.includes(key), refused.text);
    });

    test("reading requires layout:read and everything else layout:write", async () => {
      const sender = await newSender(service);
      const admin = callerOf(protocol, await keyOf(sender, { roles: ["admin"] }));
      const reader = callerOf(protocol, await keyOf(sender, { scopes: ["layout:read"] }));
      const stranger = callerOf(protocol, await keyOf(sender, { scopes: ["notification:*"] }));
      const { id } = await admin.ok("CreateLayout", { ...frame, name: "Frame" });
      for (const method of ["GetLayout", "GetLayoutUsage", "PreviewLayout"]) {
        await reader.ok(method, { id });
        assert.equal((await stranger.call(method, { id })).code, "PERMISSION_DENIED", method);
      }
      const writes: [string, object][] = [
        ["CreateLayout", { ...frame, name: freshName() }],
        ["UpdateLayout", { id, name: "x", body: frame.body, version: 1 }],
        ["SetDefaultLayout", { id }],
        ["DuplicateLayout", { id }],
        ["DeleteLayout", { id }],
      ];
      for (const [method, message] of writes) {
        assert.equal((await reader.call(method, message)).code, "PERMISSION_DENIED", method);
      }
    });

    test("oversized templates are rejected with their position, and the service keeps running", async () => {
      const sender = await newSender(service);
      const { ok, call } = callerOf(protocol, await keyOf(sender, { roles: ["operator"] }));
      const broken = await call("CreateLayout", { ...frame, name: "x", body: "{{ content }}\n{{#if a}}" });
      assert.deepEqual([broken.code, broken.violations[0]?.field], ["INVALID_ARGUMENT", "body"]);
      assert.match(broken.violations[0]!.message, /^line 2, column 10: /);
      const deep = `{{ content }}${"{{#if a}}".repeat(2000)}${"{{/if}}".repeat(2000)}`;
      assert.equal((await call("CreateLayout", { ...frame, name: "x", body: deep })).code, "INVALID_ARGUMENT");
      const large = `{{ content }}${"x".repeat(262_144)}`;
      assert.equal((await call("CreateLayout", { ...frame, name: "x", body: large })).code, "INVALID_ARGUMENT");
      const most = `{{ content }}${"x".repeat(262_144 - 13)}`;
      await ok("CreateLayout", { ...frame, name: "large", body: most });

      const loops = "{% for i in (1..99999) %}{% for j in (1..99999) %}x{% endfor %}{% endfor %}";
      const { id } = await ok("CreateLayout", {
        ...frame,
        name: "loops",
        engine: "liquid",
        body: `{{ content }}${loops}`,
      });
      const refused = await call("PreviewLayout", { id });
      assert.deepEqual([refused.code, refused.violations[0]?.rule], ["INVALID_ARGUMENT", "template.limit_exceeded"]);
    });
  });
}

test("concurrent calls that set a default all succeed", async () => {
  const sender = await newSender(service);
  const rest = restClient(service.baseUrl, await keyOf(sender, { roles: ["operator"] }));
  const ids = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      const { body } = await rest.call("POST", "/api/v2/layouts", { ...frame, name: `l${i}` });
      return body.data.id as string;
    }),
  );
  const responses = await Promise.all(ids.map((id) => rest.call("POST", `/api/v2/layouts/${id}:setDefault`, {})));
  assert.deepEqual(
    responses.map(({ status }) => status),
    ids.map(() => 200),
  );
  const { body } = await rest.call("GET", "/api/v2/layouts?channel=email");
  assert.equal(body.data.filter((layout: { is_default: boolean }) => layout.is_default).length, 1);
});
