import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

const document = {
  ...{ manifest: 1, key: "tickets", version: "1.0.0", name: "Tickets", category: "support", description: "Tickets." },
  ...{ hosts: ["api.tickets.example"], base_url: "https://api.tickets.example/v1" },
  auth: {
    api_key: {
      fields: { token: { title: "Token" } },
      apply: { headers: { authorization: "Token {credentials.token}" } },
    },
  },
  errors: [
    { status: [422], as: "invalid_input", code: "/error/code", message: "/error/text" },
    { status: [429], as: "rate_limited", until: { header: "x-reset", unit: "epoch_s" } },
  ],
  actions: {
    "ticket.list": {
      ...{ title: "List tickets", mutation: { effect: "search" } },
      input: { type: "object", required: ["queue"], properties: { queue: { type: "string" } } },
      request: { method: "GET", path: "/queues/{input.queue}/tickets" },
      paginate: { kind: "cursor", items: "/items", cursor: "/next", param: "cursor", in: "query", max_pages: 3 },
      output: { ids: { $list: "/items", $each: "/id" } },
      output_schema: { type: "object", properties: { ids: { type: "array", items: { type: "integer" } } } },
    },
  },
};

let tenant: TenantFixture;
before(async () => {
  tenant = await newTenant(await startService());
});

const call = (fields: object) =>
  tenant.rest.call("POST", "/api/v2/connector/manifests:try", {
    ...{ document, action: "ticket.list", input: { queue: "a/b" } },
    ...fields,
  });
const page = (ids: readonly unknown[], next?: string) => ({
  status: 200,
  body: JSON.stringify({ items: ids.map((id) => ({ id })), next }),
});

async function tried(fields: object): Promise<ResponseData> {
  const { status, body, text } = await call(fields);
  assert.equal(status, 200, text);
  return body.data;
}

test("recorded pages are read as an execution reads them, and the requests are what it would send", async () => {
  const data = await tried({ answers: [page([1, 2], "c 2"), page([3])], credentials: { token: "1234" } });
  const base = "https://api.tickets.example/v1/queues/a%2Fb/tickets";
  assert.deepEqual(
    data.steps.map(({ method, url, class: answer }: ResponseData) => [method, url, answer]),
    [
      ["GET", base, "ok"],
      ["GET", `${base}?cursor=c%202`, "ok"],
    ],
  );
  assert.equal(data.steps[0].headers.authorization, "Token 1234");
  assert.deepEqual([data.output, data.output_problems, data.more_pages], [{ ids: [1, 2, 3] }, [], false]);
  assert.equal((await tried({ answers: [page([1], "more")] })).more_pages, true);
});

test("without answers, the first request is shown, with examples in place of the credentials", async () => {
  const { steps, output } = await tried({});
  assert.deepEqual([steps.length, steps[0].class, steps[0].headers.authorization], [1, "", "Token token"]);
  assert.equal(output, undefined);
});

test("answers without success have the class, the code, the message and the time that the rules say", async () => {
  const refused = { status: 422, body: JSON.stringify({ error: { code: "E7", text: "No such queue" } }) };
  const [step] = (await tried({ answers: [refused] })).steps;
  assert.deepEqual([step.class, step.code, step.message], ["invalid_input", "E7", "No such queue"]);
  const until = Math.floor(Date.now() / 1000) + 60;
  const limited = await tried({ answers: [{ status: 429, headers: { "X-Reset": String(until) }, body: "{}" }] });
  assert.deepEqual([limited.steps[0].class, Date.parse(limited.steps[0].retry_at)], ["rate_limited", until * 1000]);
});

test("an output that does not fit its schema is a problem with its place", async () => {
  const { output_problems } = await tried({ answers: [page(["seven"])] });
  assert.equal(output_problems.length, 1);
  assert.match(output_problems[0], /output\.ids\[0\]/);
});

test("a mistake in the manifest, an unknown action and a wrong input are named, and nothing is stored", async () => {
  const broken = await tried({ document: { ...document, hosts: [] } });
  assert.deepEqual([broken.violations[0].path, broken.steps], ["hosts", []]);
  for (const [fields, field] of [
    [{ action: "ticket.lists" }, "action"],
    [{ input: {} }, "input"],
    [{ auth_mode: "basic" }, "auth_mode"],
  ] as const) {
    const { status, body } = await call(fields);
    assert.equal(status, 400);
    assert.ok(body.violations[0].field.startsWith(field), JSON.stringify(body));
  }
  const { data } = await tenant.ok("GET", "/api/v2/connector/manifests");
  assert.deepEqual(data, []);
});
