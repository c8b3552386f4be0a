import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint, Subscriber } from "../../subscribers/index.ts";
import { type DeadLetter, redriveRefusal } from "./dead-letter.ts";
import { type ObservationSummary, observedState, suppressesAddress } from "./observation.ts";
import { plainText } from "./plain-text.ts";
import { contentOf, type PlanInput, planDeliveries, targetOf } from "./plan.ts";
import { retryWaitMs } from "./retry.ts";

const allowed = { allowed: true, reasonCode: "allowed_default", winningLayer: 0 } as const;
const content = {
  engine: "handlebars",
  subject: "",
  title: "",
  body: "B",
  textBody: "",
  strictVariables: false,
  layoutId: "",
  attachments: [],
  locales: {},
  data: {},
} as const;
const subscriber = {
  id: "s",
  email: "ada@example.com",
  emailSuppressedAt: null,
  phone: "",
  phoneSuppressedAt: null,
  active: true,
} as unknown as Subscriber;

function planInput(more: Partial<PlanInput> = {}): PlanInput {
  return {
    workflow: { channels: { email: content, sms: content } } as unknown as PlanInput["workflow"],
    overrides: {},
    requestedChannels: undefined,
    subscriber,
    endpoints: [],
    resolutions: new Map((["email", "sms", "push", "chat", "in_app"] as const).map((channel) => [channel, allowed])),
    verifiedOnly: false,
    holds: true,
    ...more,
  };
}

const planned = (input: PlanInput) =>
  planDeliveries(input).map(({ channel, target, skipped }) => [
    channel,
    target.identity,
    typeof skipped === "object" ? skipped.code : skipped,
  ]);

function endpoint(more: Partial<Endpoint>): Endpoint {
  return {
    id: "e",
    channel: "email",
    identity: "own@example.com",
    metadata: {},
    connectionId: "",
    verified: false,
    suppressedAt: null,
    ...more,
  } as Endpoint;
}

test("the profile's address is used when the subscriber has no endpoint", () => {
  assert.deepEqual(planned(planInput()), [
    ["email", "ada@example.com", undefined],
    ["sms", "", "no_endpoint"],
  ]);
  assert.deepEqual(planned(planInput({ endpoints: [endpoint({})] }))[0], ["email", "own@example.com", undefined]);
});

test("with verified addresses only, unverified endpoints and profile addresses are skipped", () => {
  assert.deepEqual(planned(planInput({ verifiedOnly: true }))[0], ["email", "", "no_endpoint"]);
  const endpoints = [endpoint({}), endpoint({ id: "f" as Endpoint["id"], verified: true })];
  const codes = planned(planInput({ verifiedOnly: true, endpoints })).map(([, , code]) => code);
  assert.deepEqual(codes, ["unverified", undefined, "no_endpoint"]);
});

test("a suppressed address is skipped, both when planned and after waiting in the queue", () => {
  const endpoints = [endpoint({ suppressedAt: new Date() })];
  assert.equal(planned(planInput({ endpoints }))[0]![2], "suppressed");
  const later = { subscriber, endpoints, verifiedOnly: false };
  assert.equal((targetOf(later, "email", "e") as { code: string }).code, "suppressed");
  assert.equal((targetOf(later, "email", "another") as { code: string }).code, "removed");
  assert.equal((targetOf(later, "email", "") as { identity: string }).identity, "ada@example.com");
});

test("a trigger without content or requested channels plans all channels, so that missing content is reported", () => {
  assert.equal(planned(planInput({ workflow: undefined })).length, 5);
  assert.deepEqual(planned(planInput({ workflow: undefined, overrides: { in_app: { body: "Hi" } } })), [
    ["in_app", "", undefined],
  ]);
});

test("an override replaces the fields that it sets, and the workflow supplies the rest", () => {
  const { workflow } = planInput();
  const merged = contentOf(workflow!.channels.email, { subject: "Other", body: undefined });
  assert.deepEqual([merged!.subject, merged!.body], ["Other", "B"]);
  assert.equal(contentOf(workflow!.channels.push, { title: "T" }), undefined);
});

test("retry delays grow to 15 minutes, use full jitter, and honour the provider's Retry-After within bounds", () => {
  const longest = Array.from({ length: 7 }, (_, at) => retryWaitMs(at + 1, undefined, 1));
  assert.deepEqual(
    longest,
    [...longest].sort((a, b) => a - b),
  );
  const allMs = longest.reduce((sum, each) => sum + each, 0);
  assert.ok(allMs > 25 * 60_000 && allMs < 35 * 60_000, String(allMs));
  assert.equal(retryWaitMs(3, undefined, 0), 0);
  assert.equal(retryWaitMs(1, 60_000, 0.5), 60_000);
  assert.equal(retryWaitMs(1, 3_600_000, 0.5), 900_000);
});

test("a message takes the strongest observed state in any order, and a machine opening does not count as engagement", () => {
  const state = (
    current: Parameters<typeof observedState>[0],
    ...seen: readonly (Partial<ObservationSummary> | ObservationSummary["kind"])[]
  ) => {
    const whole = seen.map((each) => ({
      kind: "delivered" as const,
      severity: "",
      machineGenerated: false,
      ...(typeof each === "string" ? { kind: each } : each),
    }));
    assert.equal(observedState(current, whole), observedState(current, whole.toReversed()));
    return observedState(current, whole);
  };
  const soft = { kind: "bounced", severity: "soft" } as const;
  const hard = { kind: "bounced", severity: "hard" } as const;
  assert.equal(state("awaiting"), "awaiting");
  assert.equal(state("awaiting", "bounced"), "undelivered");
  assert.equal(state("delivered", "delivered", "bounced"), "undelivered");
  assert.equal(state("undelivered", "bounced", "delivered"), "undelivered");
  assert.equal(state("unknown", "delivered"), "delivered");
  assert.equal(state("delivered", "delivered", "deferred"), "delivered");
  assert.equal(state("awaiting", { kind: "opened", machineGenerated: true }), "delivered");
  assert.equal(state("engaged", "clicked", "complained"), "complained");
  assert.equal(state("complained", "complained", "opened"), "complained");
  assert.equal(state("awaiting", soft), "undelivered");
  assert.equal(state("undelivered", soft, "delivered"), "delivered");
  assert.equal(state("delivered", soft, "delivered", hard), "undelivered");
});

test("an address is suppressed after a hard bounce, an unsubscribe or a complaint", () => {
  const suppressing = (["complained", "unsubscribed", "token_invalidated"] as const).map((kind) =>
    suppressesAddress(kind, ""),
  );
  assert.deepEqual(suppressing, [true, true, true]);
  assert.deepEqual(
    [suppressesAddress("bounced", "soft"), suppressesAddress("bounced", "hard"), suppressesAddress("clicked", "")],
    [false, true, false],
  );
});

test("a dead letter can be redriven while it is open, its payload exists and its redrive limit is not reached", () => {
  const open = { status: "open", payloadExpiresAt: new Date(10), redriveCount: 0, maxRedrives: 5 } as DeadLetter;
  assert.equal(redriveRefusal(open, 5), undefined);
  assert.equal(redriveRefusal(open, 10)?.code, "FAILED_PRECONDITION");
  assert.equal(redriveRefusal({ ...open, redriveCount: 5 }, 5)?.code, "FAILED_PRECONDITION");
  assert.equal(redriveRefusal({ ...open, status: "redriving" }, 5)?.code, "CONFLICT");
  assert.equal(redriveRefusal({ ...open, status: "redriven" }, 5)?.code, "FAILED_PRECONDITION");
});

test("the plain text of a mail has its text, links and line breaks, and nothing invisible", () => {
  const html = `<html><head><title>T</title><style>p{}</style></head><body><h1>Hi &lt;you&gt;</h1>
    <p>Read <a href="https://example.com/a">this</a>.</p><ul><li>one<li>two</ul><script>alert(1)</script></body>`;
  assert.equal(plainText(html), "Hi <you>\n\nRead this (https://example.com/a).\n\n- one\n- two");
  assert.equal(plainText(`${"<".repeat(100_000)}`), "");
});
