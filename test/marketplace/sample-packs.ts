import type { Publisher } from "./market-fixture.ts";

/** The parts of a sample pack that tests vary. */
export interface PackChoice {
  readonly version?: string;
  readonly name?: string;
  readonly [member: string]: unknown;
}

function head({ name }: Publisher, kind: string, { version = "1.0.0", ...choice }: PackChoice) {
  return { pack: 1, publisher: name, name: `sample-${kind}`, kind, version, title: `Sample ${kind}`, ...choice };
}

/** A pack with one workflow, whose only step returns a text. */
export function workflowPack(publisher: Publisher, text: string, choice: PackChoice = {}): object {
  const content = workflowDocument("sample.flow", text);
  return {
    ...head(publisher, "workflow", choice),
    contents: choice.contents ?? [{ record: "workflow_definition", key: "main", content }],
  };
}

/** A workflow that returns a text. */
export function workflowDocument(key: string, text: string): object {
  return { dsl: "1", key, name: "Sample", timeout: "1d", steps: [{ id: "one", transform: { text } }] };
}

/** A pack with a layout and a notification workflow. */
export function notificationPack(publisher: Publisher, title: string, choice: PackChoice = {}): object {
  return {
    ...head(publisher, "notification", choice),
    permissions: { effects: ["notify:email", "notify:in_app"] },
    slots: [{ name: "company", kind: "text", title: "Company", default: "Acme" }],
    contents: choice.contents ?? [
      {
        record: "layout",
        key: "frame",
        content: { name: "Sample frame", channel: "email", body: "<b>[[slot.company]]</b>{{{content}}}" },
      },
      {
        record: "notification_workflow",
        key: "message",
        content: {
          workflow_key: "sample.message",
          name: "Sample",
          description: "A sample",
          channels: {
            email: { subject: title, body: "<p>{{payload.text}}</p>", layout_id: "[[record.frame]]" },
            in_app: { title, body: "{{payload.text}}" },
          },
        },
      },
    ],
  };
}

/** A pack with a pool and two rules. */
export function rulesPack(publisher: Publisher, priority: number, choice: PackChoice = {}): object {
  return {
    ...head(publisher, "rules", choice),
    permissions: { effects: ["routing:pool", "routing:hold", "routing:set_priority"] },
    slots: [{ name: "environment", kind: "environment", title: "Environment", default: "production" }],
    contents: choice.contents ?? [
      {
        record: "pool",
        key: "pool",
        content: { environment_id: "[[slot.environment]]", name: "Sample pool", config: { queue: { max_depth: 100 } } },
      },
      {
        record: "rule",
        key: "first",
        content: { pool_id: "[[record.pool]]", name: "First", priority, action: { type: "hold", hold_s: 5 } },
      },
      {
        record: "rule",
        key: "second",
        content: {
          pool_id: "[[record.pool]]",
          name: "Second",
          condition: 'item.type == "a"',
          action: { type: "set_priority", priority: 5 },
        },
      },
    ],
  };
}
