import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../errors/index.ts";
import { previewContent } from "./content-preview.ts";
import type { ChannelContent } from "./domain/workflow.ts";

const content = (parts: Partial<ChannelContent>): ChannelContent => ({
  ...{
    engine: "handlebars",
    subject: "",
    title: "",
    body: "",
    textBody: "",
    layoutId: "",
    data: {},
    attachments: [],
    locales: {},
  },
  ...{ strictVariables: false, ...parts },
});
const nowMs = Date.parse("2026-03-01T23:30:00Z");
const sample = { payload: { order: "<A-1>" }, subscriber: { first_name: "Ada", locale: "de-DE" } };

test("the body of a mail escapes values, and everything else does not", () => {
  const parts = { subject: "{{payload.order}}", body: "<p>{{payload.order}}</p>", textBody: "{{payload.order}}" };
  const { subject, body, textBody } = previewContent("email", content(parts), sample, nowMs);
  assert.deepEqual([subject, body, textBody], ["<A-1>", "<p>&lt;A-1&gt;</p>", "<A-1>"]);
  assert.equal(previewContent("sms", content(parts), sample, nowMs).body, "<p><A-1></p>");
});

test("values that the sample does not have render as nothing and are listed once", () => {
  const parts = { title: "{{payload.name}}", body: "Hi {{subscriber.first_name}}{{payload.name}}{{payload.city}}" };
  const shown = previewContent("in_app", content(parts), sample, nowMs);
  assert.equal(shown.body, "Hi Ada");
  assert.deepEqual(shown.unresolved, ["payload.city", "payload.name"]);
});

test("formats use the locale of the sample", () => {
  const { body } = previewContent("sms", content({ body: "{{number 1234.5}}" }), sample, nowMs);
  assert.equal(body, "1.234,5");
});

test("now is the time of the preview", () => {
  const { body } = previewContent(
    "sms",
    content({ engine: "liquid", body: `{{ "now" | date: "iso" }}` }),
    sample,
    nowMs,
  );
  assert.equal(body, "2026-03-01T23:30:00.000Z");
});

test("an invalid template is refused with its field and place", () => {
  assert.throws(
    () => previewContent("email", content({ body: "fine", subject: "{{#if}" }), sample, nowMs),
    (error) =>
      error instanceof Failure && error.code === "INVALID_ARGUMENT" && error.violations[0]!.field === "content.subject",
  );
});

test("an attachment whose sample cannot be attached is refused, without the values of the sample", () => {
  const file = { filename: "{{subscriber.first_name}}.pdf", contentType: "", content: "{{payload.order}}" };
  assert.throws(
    () => previewContent("email", content({ attachments: [file] }), sample, nowMs),
    (error) =>
      error instanceof Failure &&
      error.code === "INVALID_ARGUMENT" &&
      error.violations[0]!.field === "content.attachments" &&
      error.violations[0]!.rule === "template.attachment_invalid" &&
      !/Ada/.test(error.message),
  );
});
