import { randomBytes } from "node:crypto";
import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { announcedChanges } from "../../../../test/harness/changes.ts";
import { freshTenant, perform, recordedEvents } from "../../../../test/harness/context.ts";
import type { Context } from "../../../chain/call.ts";
import { loadConfig } from "../../../config/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createCursors } from "../../../platform/cursor/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import { createMetrics } from "../../../platform/telemetry/index.ts";
import type { UsageSource } from "../../usage-source.ts";
import { createBilling } from "../index.ts";

/** The area on a test database, with a clock that the test moves. */
export function billingFixture(db: Database, usageSources: readonly UsageSource[] = []) {
  const platformTenantId = freshTenant();
  const clock = { nowMs: Date.UTC(2026, 0, 31, 12), now: () => clock.nowMs };
  const events = recordedEvents();
  const { config } = loadConfig({ overrides: ["server.internal_addr="] });
  const newNode = () =>
    createBilling({
      ...{ config, db, clock, events, usageSources },
      ...announcedChanges(),
      cursors: createCursors(randomBytes(32)),
      metrics: createMetrics(),
      platformTenantId: () => platformTenantId,
      readTenantState: () => ({ status: "active", platform: false, quotas: {}, settings: {} }),
    } as unknown as Parameters<typeof createBilling>[0]);
  const node = newNode();

  /** Runs a handler like the chain does, at the time of the clock. */
  function call<I extends DescMessage, O>(
    tenantId: TenantId,
    handler: unknown,
    schema: I,
    request: MessageInitShape<I>,
    platform = false,
  ): Promise<O> {
    const run = handler as (context: Context, message: MessageShape<I>) => Promise<O>;
    return perform(db, { tenantId, nowMs: clock.nowMs, platform }, run, schema, request);
  }

  return { node, newNode, clock, events, call, platformTenantId, never: new AbortController().signal };
}
