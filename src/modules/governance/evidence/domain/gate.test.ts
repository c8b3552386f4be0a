import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evaluateGate, type GateInput, type Verdict } from "./gate.ts";
import type { ReceiptHead, ReceiptResult } from "./receipt.ts";
import { expandRequirements } from "./requirements.ts";
import type { Subject } from "./subject.ts";

const nowMs = Date.parse("2026-01-08T00:00:00Z");
const hourMs = 3_600_000;
const subject: Subject = {
  kind: "routing",
  name: "leads",
  version: "2",
  sha256: "b".repeat(64),
  baseSha256: "a".repeat(64),
};

interface Defects {
  readonly wrongProducer: boolean;
  readonly wrongEnvironment: boolean;
  readonly wrongCandidate: boolean;
  readonly expired: boolean;
  readonly changed: boolean;
  readonly otherBase: boolean;
  readonly old: boolean;
  readonly result: ReceiptResult;
}

const none: Defects = {
  ...{ wrongProducer: false, wrongEnvironment: false, wrongCandidate: false },
  ...{ expired: false, changed: false, otherBase: false, old: false },
  result: "passed",
};

function receiptWith(defects: Defects, revision = 1): ReceiptHead {
  return {
    id: `r${revision}`,
    revision,
    type: "scenario",
    result: defects.result,
    producer: defects.wrongProducer ? "key:other" : "key:ci",
    environmentId: defects.wrongEnvironment ? "elsewhere" : "here",
    candidateId: defects.wrongCandidate ? "another" : "candidate",
    subjects: [
      {
        ...subject,
        sha256: defects.changed ? "c".repeat(64) : subject.sha256,
        baseSha256: defects.otherBase ? "d".repeat(64) : subject.baseSha256,
      },
    ],
    issuedAt: new Date(nowMs - (defects.old ? 8 * 24 : 1) * hourMs),
    expiresAt: new Date(defects.expired ? nowMs : nowMs + hourMs),
    digest: `${revision}`,
  };
}

function verdictOn(receipts: readonly ReceiptHead[], change: Partial<GateInput> = {}): Verdict {
  const gate = evaluateGate({
    packId: "pack",
    environmentId: "here",
    candidateId: "candidate",
    requirementsVersion: 1,
    requirements: expandRequirements("sandbox", ["routing"]),
    acceptedProducers: ["service", "key:ci"],
    subjects: [subject],
    receipts,
    nowMs,
    ...change,
  });
  const [finding] = gate.findings;
  assert.equal(gate.findings.length, 1);
  assert.equal(gate.state, finding!.verdict === "satisfied" ? "open" : "closed");
  return finding!.verdict;
}

test("each defect alone has its reason", () => {
  const alone: [Partial<Defects>, Verdict][] = [
    [{}, "satisfied"],
    [{ wrongProducer: true }, "wrong_producer"],
    [{ wrongEnvironment: true }, "wrong_environment"],
    [{ wrongCandidate: true }, "wrong_candidate"],
    [{ expired: true }, "expired"],
    [{ changed: true }, "stale"],
    [{ otherBase: true }, "stale"],
    [{ old: true }, "stale"],
    [{ result: "blocked" }, "blocked"],
    [{ result: "failed" }, "failed"],
  ];
  for (const [defects, verdict] of alone) assert.equal(verdictOn([receiptWith({ ...none, ...defects })]), verdict);
  assert.equal(verdictOn([]), "missing");
});

/** The reasons in the order in which they take precedence. */
function expectedOf(defects: Defects): Verdict {
  const order: [boolean, Verdict][] = [
    [defects.wrongProducer, "wrong_producer"],
    [defects.wrongEnvironment, "wrong_environment"],
    [defects.wrongCandidate, "wrong_candidate"],
    [defects.expired, "expired"],
    [defects.changed || defects.otherBase || defects.old, "stale"],
    [defects.result === "blocked", "blocked"],
    [defects.result === "failed", "failed"],
  ];
  return order.find(([applies]) => applies)?.[1] ?? "satisfied";
}

const anyDefects = fc.record<Defects>({
  wrongProducer: fc.boolean(),
  wrongEnvironment: fc.boolean(),
  wrongCandidate: fc.boolean(),
  expired: fc.boolean(),
  changed: fc.boolean(),
  otherBase: fc.boolean(),
  old: fc.boolean(),
  result: fc.constantFrom("passed", "failed", "blocked"),
});

test("combined defects have the reason that takes precedence", () => {
  fc.assert(
    fc.property(anyDefects, (defects) => {
      assert.equal(verdictOn([receiptWith(defects)]), expectedOf(defects));
    }),
    { numRuns: 300 },
  );
});

test("the newest receipt of an accepted producer, environment and promotion decides, in any order of the list", () => {
  fc.assert(
    fc.property(fc.array(anyDefects, { maxLength: 6 }), fc.integer(), (all, seed) => {
      const receipts = all.map((defects, at) => receiptWith(defects, at + 1));
      const verdicts = all.map(expectedOf).toReversed();
      const expected =
        verdicts.find((verdict) => !verdict.startsWith("wrong_")) ??
        verdicts.find((verdict) => verdict === "wrong_environment") ??
        verdicts[0] ??
        "missing";
      const turned = receipts.length === 0 ? 0 : Math.abs(seed) % receipts.length;
      assert.equal(verdictOn([...receipts.slice(turned), ...receipts.slice(0, turned)]), expected);
    }),
    { numRuns: 300 },
  );
});

test("a receipt that names no promotion is about its artifacts, except where the promotion itself is checked", () => {
  const unnamed = { ...receiptWith(none), candidateId: "" };
  assert.equal(verdictOn([unnamed]), "satisfied");
  const canary = expandRequirements("live", ["routing"]).filter(({ receiptType }) => receiptType === "canary");
  const receipt = { ...unnamed, type: "canary" as const };
  assert.equal(verdictOn([receipt], { requirements: canary }), "wrong_candidate");
  assert.equal(verdictOn([{ ...receipt, candidateId: "candidate" }], { requirements: canary }), "satisfied");
});

test("a receipt is valid until the millisecond before it expires or is too old", () => {
  const receipt = receiptWith(none);
  const expiry = receipt.expiresAt.getTime();
  assert.equal(verdictOn([receipt], { nowMs: expiry - 1 }), "satisfied");
  assert.equal(verdictOn([receipt], { nowMs: expiry }), "expired");
  const lasting = { ...receipt, expiresAt: new Date(nowMs + 365 * 24 * hourMs) };
  const ageEnd = receipt.issuedAt.getTime() + 7 * 24 * hourMs;
  assert.equal(verdictOn([lasting], { nowMs: ageEnd - 1 }), "satisfied");
  assert.equal(verdictOn([lasting], { nowMs: ageEnd }), "stale");
});

test("a gate without artifacts is closed", () => {
  const input = { packId: "p", environmentId: "here", candidateId: "", requirementsVersion: 1, nowMs };
  const empty = { requirements: [], acceptedProducers: [], subjects: [], receipts: [] };
  assert.equal(evaluateGate({ ...input, ...empty }).state, "closed");
});
