import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../errors/index.ts";
import { previewContent } from "./content-preview.ts";
import type { ChannelContent } from "./domain/workflow.ts";

const content = (parts: Partial<ChannelContent>): ChannelContent => ({
  ...{ engine: "handlebars", subject: "", title: "", body: "", textBody: "", layoutId: "", data: {} },
  ...{ strictVariables: false, ...parts },
});
const sample = { payload: { order: "<A-1>" }, subscriber: { first_name: "Ada", locale: "de-DE" } };

test("the body of a mail escapes values, and everything else does not", () => {
  const parts = { subject: "{{payload.order}}", body: "<p>{{payload.order}}</p>", textBody: "{{payload.order}}" };
  const { subject, body, textBody } = previewContent("email", content(parts), sample);
  assert.deepEqual([subject, body, textBody], ["<A-1>", "<p>&lt;A-1&gt;</p>", "<A-1>"]);
  assert.equal(previewContent("sms", content(parts), sample).body, "<p><A-1></p>");
});

test("values that the sample does not have render as nothing and are listed once", () => {
  const parts = { title: "{{payload.name}}", body: "Hi {{subscriber.first_name}}{{payload.name}}{{payload.city}}" };
  const shown = previewContent("in_app", content(parts), sample);
  assert.equal(shown.body, "Hi Ada");
  assert.deepEqual(shown.unresolved, ["payload.city", "payload.name"]);
});

test("formats use the locale of the sample", () => {
  const { body } = previewContent("sms", content({ body: "{{number 1234.5}}" }), sample);
  assert.equal(body, "1.234,5");
});

test("an invalid template is refused with its field and place", () => {
  assert.throws(
    () => previewContent("email", content({ body: "fine", subject: "{{#if}" }), sample),
    (error) =>
      error instanceof Failure && error.code === "INVALID_ARGUMENT" && error.violations[0]!.field === "content.subject",
  );
});
