import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateLayoutRequestSchema,
  DeleteLayoutRequestSchema,
  DuplicateLayoutRequestSchema,
  GetLayoutRequestSchema,
  GetLayoutUsageRequestSchema,
  ListLayoutsRequestSchema,
  PreviewLayoutRequestSchema,
  SetDefaultLayoutRequestSchema,
  UpdateLayoutRequestSchema,
} from "../../../../gen/service/api/layout_pb.ts";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import { failsWith, freshTenant, perform, recordedEvents, testDatabase } from "../../../../test/harness/context.ts";
import { Failure } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { classifyDatabaseError } from "../../../platform/db/index.ts";
import { TemplateError } from "../../../platform/templates/index.ts";
import { copyNames } from "./domain/layout.ts";
import { createLayouts } from "./index.ts";

const db = await testDatabase();
const events = recordedEvents();
const { changes, standing } = announcedChanges();
/** The workflow keys that use a layout in a test. */
const uses = new Map<string, string[]>();
const noPartials = () => undefined;
const partials = {
  libraryOf: () => ({ handlebars: noPartials, liquid: noPartials }),
  requirePartials: async () => {},
};
const layouts = createLayouts({
  partials,
  cacheLoadDb: db,
  changes,
  events,
  findLayoutUses: async (_sql, tenantId, layoutId, limit) =>
    (uses.get(`${tenantId}|${layoutId}`) ?? []).slice(0, limit),
});
const { handlers } = layouts;

const frame = "<main>{{ content }}</main>";

async function createLayout(tenantId: TenantId, fields: object = {}) {
  const request = { name: "Frame", channel: "email", body: frame, ...fields };
  const { layout } = await perform(db, { tenantId }, handlers.createLayout, CreateLayoutRequestSchema, request);
  return layout!;
}
async function get(tenantId: TenantId, id: string) {
  return (await perform(db, { tenantId }, handlers.getLayout, GetLayoutRequestSchema, { id })).layout!;
}
async function setDefault(tenantId: TenantId, id: string) {
  return (await perform(db, { tenantId }, handlers.setDefaultLayout, SetDefaultLayoutRequestSchema, { id })).layout!;
}
async function duplicate(tenantId: TenantId, id: string) {
  return (await perform(db, { tenantId }, handlers.duplicateLayout, DuplicateLayoutRequestSchema, { id })).layout!;
}
async function defaultsOf(tenantId: TenantId) {
  const all = await perform(db, { tenantId }, handlers.listLayouts, ListLayoutsRequestSchema, {});
  return all.layouts.filter(({ isDefault }) => isDefault).map(({ id }) => id);
}

test("a layout starts at version 1 in Handlebars, and lists the variables of its templates", async () => {
  const tenantId = freshTenant();
  const created = await createLayout(tenantId, {
    body: "{{payload.logo}}{{content}}{{#each payload.links}}{{url}}{{/each}}",
    textBody: "{{subscriber.first_name}}: {{content}}",
    metadata: { team: "growth" },
  });
  assert.deepEqual(
    [created.version, created.engine, created.isDefault, created.metadata],
    [1, "handlebars", false, { team: "growth" }],
  );
  assert.deepEqual(created.variables, ["payload.links", "payload.logo", "subscriber.first_name"]);
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "layout.created",
    subject: created.id,
    data: { name: "Frame", channel: "email", is_default: false },
  });
});

test("a layout without a rendered content placeholder is refused in both engines", async () => {
  const tenantId = freshTenant();
  const refused = [
    { body: "<main></main>" },
    { body: "{{! content }}{{!-- {{content}} --}}" },
    { body: "{{{{raw}}}}{{content}}{{{{/raw}}}}" },
    { body: "{{#if false}}{{content}}{{/if}}" },
    { engine: "liquid", body: "{% comment %}{{ content }}{% endcomment %}" },
    { engine: "liquid", body: "{% raw %}{{ content }}{% endraw %}" },
    { body: frame, textBody: "no content" },
  ];
  for (const fields of refused) {
    await assert.rejects(
      createLayout(tenantId, fields),
      failsWith("INVALID_ARGUMENT", /must contain \{\{ content \}\}/),
    );
  }
  assert.equal(
    (await createLayout(tenantId, { engine: "liquid", body: "{% if payload.x %}{{ content }}{% endif %}" })).version,
    1,
  );
});

test("an invalid template is refused with the position of the error", async () => {
  const tenantId = freshTenant();
  await assert.rejects(createLayout(tenantId, { body: "{{content}}\n {{shout 1}}" }), (error) => {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, "INVALID_ARGUMENT");
    assert.deepEqual(error.violations, [
      {
        field: "body",
        rule: "template.syntax_error",
        message: "line 2, column 2: There is no helper named shout.",
      },
    ]);
    return true;
  });
  const included = { engine: "liquid", body: "{{ content }}{% include 'x' %}" };
  await assert.rejects(createLayout(tenantId, included), failsWith("INVALID_ARGUMENT", /line 1, column 14/));
});

test("a name is unique on its channel", async () => {
  const tenantId = freshTenant();
  await createLayout(tenantId);
  await createLayout(tenantId, { channel: "sms" });
  await assert.rejects(createLayout(tenantId), (error) => classifyDatabaseError(error)?.code === "ALREADY_EXISTS");
  await createLayout(freshTenant());
});

test("an update replaces the layout only at the version that it names", async () => {
  const tenantId = freshTenant();
  const { id } = await createLayout(tenantId, { description: "old", metadata: { a: 1 } });
  const update = (version: number, fields: object = {}) =>
    perform(db, { tenantId }, handlers.updateLayout, UpdateLayoutRequestSchema, {
      id,
      name: "Frame",
      body: "<div>{{content}}{{payload.x}}</div>",
      version,
      ...fields,
    });
  const { layout } = await update(1);
  assert.deepEqual([layout!.version, layout!.description, layout!.variables], [2, "", ["payload.x"]]);
  assert.deepEqual(layout!.metadata, {});
  assert.deepEqual(events.recorded.at(-1)!.data.fields, ["description", "body", "metadata"]);
  await assert.rejects(update(1, { name: "Late" }), failsWith("VERSION_CONFLICT", /version 2/));
  await assert.rejects(update(2, { body: "nothing" }), failsWith("INVALID_ARGUMENT"));
  assert.deepEqual(await get(tenantId, id), layout);
});

test("one of two updates of the same version is refused", async () => {
  const tenantId = freshTenant();
  const { id } = await createLayout(tenantId);
  const outcomes = await Promise.allSettled(
    ["a", "b"].map((name) =>
      perform(db, { tenantId }, handlers.updateLayout, UpdateLayoutRequestSchema, {
        id,
        name,
        body: frame,
        version: 1,
      }),
    ),
  );
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal((await get(tenantId, id)).version, 2);
});

test("a channel has at most one default: setting another one clears the first", async () => {
  const tenantId = freshTenant();
  const [a, b, sms] = [
    await createLayout(tenantId, { name: "a", isDefault: true }),
    await createLayout(tenantId, { name: "b" }),
    await createLayout(tenantId, { name: "s", channel: "sms", isDefault: true }),
  ];
  assert.equal((await setDefault(tenantId, b.id)).isDefault, true);
  assert.deepEqual(await defaultsOf(tenantId), [b.id, sms.id]);
  assert.deepEqual(events.recorded.at(-1)!.data, { name: "b", channel: "email", previous_layout_id: a.id });
  const count = events.recorded.length;
  await setDefault(tenantId, b.id);
  assert.equal(events.recorded.length, count);
  const c = await createLayout(tenantId, { name: "c", isDefault: true });
  assert.deepEqual(await defaultsOf(tenantId), [sms.id, c.id]);
  assert.equal((await get(tenantId, b.id)).version, 1);
});

test("concurrent calls that set a default all succeed and leave one default", async () => {
  const tenantId = freshTenant();
  const created = await Promise.all(Array.from({ length: 8 }, (_, i) => createLayout(tenantId, { name: `l${i}` })));
  await Promise.all(created.map(({ id }) => setDefault(tenantId, id)));
  assert.equal((await defaultsOf(tenantId)).length, 1);
});

test("every copy gets the suffix ` (copy)` and is never the default, even with concurrent calls", async () => {
  const tenantId = freshTenant();
  const original = await createLayout(tenantId, { name: "A", isDefault: true, body: "{{content}}{{payload.x}}" });
  const copies = await Promise.all([1, 2, 3].map(() => duplicate(tenantId, original.id)));
  assert.deepEqual(copies.map(({ name }) => name).sort(), ["A (copy)", "A (copy) (copy)", "A (copy) (copy) (copy)"]);
  for (const copy of copies) {
    assert.notEqual(copy.id, original.id);
    assert.deepEqual([copy.isDefault, copy.version, copy.body], [false, 1, original.body]);
    assert.deepEqual(copy.variables, original.variables);
  }
  assert.deepEqual(await defaultsOf(tenantId), [original.id]);
});

test("the names of copies never exceed the maximum length and are all different", () => {
  const names = copyNames("😀".repeat(128));
  for (const name of names) assert.equal([...name].length, 128);
  assert.ok(names[0]!.endsWith("😀 (copy)") && names[1]!.endsWith("😀 (copy) (copy)"));
  assert.equal(new Set(names).size, names.length);
});

test("when all names for a copy are taken, the error tells the caller to rename one", async () => {
  const tenantId = freshTenant();
  const { id } = await createLayout(tenantId, { name: "A" });
  for (const _ of copyNames("A")) await duplicate(tenantId, id);
  await assert.rejects(duplicate(tenantId, id), failsWith("ALREADY_EXISTS", /rename a copy first/));
});

test("a layout in use is not deleted, and the error lists its uses and is not retryable", async () => {
  const tenantId = freshTenant();
  const { id } = await createLayout(tenantId);
  const remove = () => perform(db, { tenantId }, handlers.deleteLayout, DeleteLayoutRequestSchema, { id });
  uses.set(`${tenantId}|${id}`, ["invoice", "welcome"]);
  await assert.rejects(remove(), (error) => {
    assert.ok(error instanceof Failure);
    assert.deepEqual([error.entry.http, error.entry.retryable], [409, false]);
    assert.deepEqual(error.extra, { workflow_keys: ["invoice", "welcome"] });
    return true;
  });
  const usage = await perform(db, { tenantId }, handlers.getLayoutUsage, GetLayoutUsageRequestSchema, { id });
  assert.deepEqual([usage.workflowKeys, usage.more], [["invoice", "welcome"], false]);
  uses.delete(`${tenantId}|${id}`);
  assert.equal((await remove()).layout!.id, id);
  await assert.rejects(get(tenantId, id), failsWith("NOT_FOUND"));
  await assert.rejects(remove(), failsWith("NOT_FOUND"));
});

test("another tenant's layout is not found by any operation", async () => {
  const { id } = await createLayout(freshTenant());
  const choice = { tenantId: freshTenant() };
  const none = failsWith("NOT_FOUND", /^No such layout\.$/);
  const replaced = { id, name: "x", body: frame, version: 1 };
  await assert.rejects(perform(db, choice, handlers.getLayout, GetLayoutRequestSchema, { id }), none);
  await assert.rejects(perform(db, choice, handlers.updateLayout, UpdateLayoutRequestSchema, replaced), none);
  await assert.rejects(perform(db, choice, handlers.deleteLayout, DeleteLayoutRequestSchema, { id }), none);
  await assert.rejects(perform(db, choice, handlers.getLayoutUsage, GetLayoutUsageRequestSchema, { id }), none);
  await assert.rejects(setDefault(choice.tenantId, id), none);
  await assert.rejects(duplicate(choice.tenantId, id), none);
  await assert.rejects(perform(db, choice, handlers.previewLayout, PreviewLayoutRequestSchema, { id }), none);
});

test("a preview renders sample content, lists the variables that the sample lacks, and changes nothing", async () => {
  const tenantId = freshTenant();
  const created = await createLayout(tenantId, {
    body: "<h1>{{payload.title}}</h1>{{content}}{{payload.gone}}{{#each payload.links}}{{url}}{{label}}{{/each}}",
    textBody: "{{payload.title}}: {{content}}{{#if payload.maybe}}!{{/if}}",
  });
  const ask = () =>
    perform(db, { tenantId }, handlers.previewLayout, PreviewLayoutRequestSchema, {
      id: created.id,
      payload: { title: "A & B", links: [{ url: "x" }] },
    });
  const shown = await ask();
  assert.equal(shown.body, "<h1>A &amp; B</h1><div>[content]</div>x");
  assert.equal(shown.textBody, "A & B: [content]");
  assert.deepEqual(shown.resolvedVariables, ["payload.links", "payload.title"]);
  assert.deepEqual(shown.unresolvedVariables, ["payload.gone", "payload.links[].label", "payload.maybe"]);
  assert.deepEqual(await ask(), shown);
  assert.deepEqual(await get(tenantId, created.id), created);
});

test("a preview that exceeds its work budget fails with a template error", async () => {
  const tenantId = freshTenant();
  const { id } = await createLayout(tenantId, {
    engine: "liquid",
    body: "{{ content }}{% for i in (1..payload.n) %}x{% endfor %}",
  });
  const ask = (n: number) =>
    perform(db, { tenantId }, handlers.previewLayout, PreviewLayoutRequestSchema, { id, payload: { n } });
  assert.match((await ask(3)).body, /xxx$/);
  await assert.rejects(ask(1e9), failsWith("INVALID_ARGUMENT", /work limit/));
});

test("notifications use the current version of the layout that they name, or of their channel's default", async () => {
  const tenantId = freshTenant();
  assert.equal(await layouts.layoutFor(tenantId, "in_app", ""), undefined);
  const inapp = await createLayout(tenantId, { channel: "inapp", isDefault: true });
  const other = await createLayout(tenantId, { channel: "inapp", name: "Other" });
  assert.equal((await layouts.layoutFor(tenantId, "in_app", ""))?.id, inapp.id);
  assert.equal((await layouts.layoutFor(tenantId, "in_app", other.id))?.name, "Other");
  assert.equal(await layouts.layoutFor(tenantId, "email", other.id), undefined);
  assert.equal(await layouts.layoutFor(freshTenant(), "in_app", other.id), undefined);
  // A non-empty id never selects the default, whatever its format.
  for (const id of ["no|such|id", "|x", " "]) assert.equal(await layouts.layoutFor(tenantId, "in_app", id), undefined);
  await setDefault(tenantId, other.id);
  assert.equal((await layouts.layoutFor(tenantId, "in_app", ""))?.id, other.id);
  // Cached while nothing changes, and never cached while changes may have been missed.
  assert.equal(await layouts.layoutFor(tenantId, "in_app", ""), await layouts.layoutFor(tenantId, "in_app", ""));
  standing.fresh = false;
  assert.notEqual(await layouts.layoutFor(tenantId, "in_app", ""), await layouts.layoutFor(tenantId, "in_app", ""));
  standing.fresh = true;
});

test("content is inserted into a layout unchanged and is never evaluated", async () => {
  const tenantId = freshTenant();
  await createLayout(tenantId, {
    isDefault: true,
    body: "<b>{{payload.name}}</b>{{content}}",
    textBody: "{{payload.name}}\n{{content}}",
  });
  const layout = (await layouts.layoutFor(tenantId, "email", ""))!;
  const values = { payload: { name: "<Ann>" }, content: "not this" };
  const content = { body: "<p>{{payload.name}} {{content}}</p>", text: "{{payload.name}}" };
  assert.deepEqual(layouts.wrap(layout, content, values, { escape: "html", nowMs: 0 }), {
    body: "<b>&lt;Ann&gt;</b><p>{{payload.name}} {{content}}</p>",
    text: "<Ann>\n{{payload.name}}",
  });
  assert.throws(() => layouts.wrap(layout, content, values, { escape: "html", nowMs: 0, bytesMax: 10 }), TemplateError);
});

test("without a text template, a mail layout leaves the plain text unchanged, and other channels use the body", async () => {
  const tenantId = freshTenant();
  await createLayout(tenantId, { isDefault: true });
  await createLayout(tenantId, { channel: "chat", isDefault: true, body: "[{{content}}]" });
  const [mail, chat] = [
    (await layouts.layoutFor(tenantId, "email", ""))!,
    (await layouts.layoutFor(tenantId, "chat", ""))!,
  ];
  const wrapped = layouts.wrap(mail, { body: "<p>x</p>", text: "x" }, {}, { escape: "html", nowMs: 0 });
  assert.deepEqual(wrapped, { body: "<main><p>x</p></main>", text: "x" });
  assert.deepEqual(layouts.wrap(chat, { body: "x" }, {}, { escape: "none", nowMs: 0 }), { body: "[x]", text: "[x]" });
});

test("layouts are listed by channel, page by page", async () => {
  const tenantId = freshTenant();
  for (const name of ["a", "b", "c"]) await createLayout(tenantId, { name });
  await createLayout(tenantId, { channel: "push" });
  const list = (request: object) => perform(db, { tenantId }, handlers.listLayouts, ListLayoutsRequestSchema, request);
  const first = await list({ channel: "email", pageSize: 2 });
  const second = await list({ channel: "email", pageSize: 2, pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.layouts, ...second.layouts].map(({ name }) => name),
    ["a", "b", "c"],
  );
  assert.deepEqual([first.totalSize, (await list({})).totalSize], [3, 4]);
  await assert.rejects(list({ channel: "push", pageToken: first.nextPageToken }), failsWith("INVALID_ARGUMENT"));
});

test("metadata that is too large is refused", async () => {
  const metadata = { text: "x".repeat(17_000) };
  await assert.rejects(createLayout(freshTenant(), { metadata }), failsWith("INVALID_ARGUMENT", /metadata/));
});
