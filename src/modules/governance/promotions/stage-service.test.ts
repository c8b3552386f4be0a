import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { PrepareAgain } from "../../../chain/call.ts";
import type { Candidate } from "./domain/candidate.ts";
import { createCandidateService } from "./service.ts";
import { createStageService } from "./stage-service.ts";

test("guardrails that are evaluated at the same time simulate one after the other for a tenant", async () => {
  let [running, most, simulations] = [0, 0, 0];
  const simulate = async () => {
    most = Math.max(most, ++running);
    for (let pause = 0; pause < 5; pause++) await setImmediate();
    running--;
    simulations++;
    return [];
  };
  const parts = { kinds: { simulate } } as never;
  const guardrails = [{ metric: "simulated_changes", limit: 0.1 }];
  const find = async () => ({ state: "preflight_passed", guardrails }) as unknown as Candidate;
  const stages = createStageService(parts, { ...createCandidateService(parts), find });
  const context = { tenantId: "tenant", nowMs: 1_800_000_000_000 } as never;
  await Promise.all(Array.from({ length: 10 }, (_, nth) => stages.prepareGuardrails(context, `${nth}`)));
  assert.deepEqual([simulations, most], [10, 1]);
});

test("a preflight simulates again if a target has changed since its simulation", async () => {
  let version = 1;
  const artifact = { kind: "routing", targetId: "pool", sha256: "staged" };
  const candidate = { state: "created", artifacts: [artifact] } as unknown as Candidate;
  const found = async () => candidate;
  const owner = { findVersion: async () => ({ sha256: "staged" }), check: async () => ({ impacts: [], blocking: [] }) };
  const observe = async () => [{ artifact, live: { version, sha256: `live ${version}` } }];
  const parts = { kinds: { observe, ownerOf: () => owner, simulate: async () => [] } } as never;
  const candidates = { ...createCandidateService(parts), find: found, lock: found };
  const stages = createStageService(parts, candidates);
  const context = { tenantId: "tenant", nowMs: 1_800_000_000_000 } as never;
  const prepared = await stages.preparePreflight(context, "id");
  version = 2;
  await assert.rejects(stages.preflight(context, "id", prepared), PrepareAgain);
});
