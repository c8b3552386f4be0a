import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Context } from "../../src/chain/call.ts";
import { loadConfig } from "../../src/config/index.ts";
import { createBilling } from "../../src/modules/billing/index.ts";
import type { UsageSource } from "../../src/modules/usage-source.ts";
import type { TenantId } from "../../src/platform/access/index.ts";
import type { Database } from "../../src/platform/db/index.ts";
import { createMetrics } from "../../src/platform/telemetry/index.ts";
import { announcedChanges } from "../harness/changes.ts";
import { freshTenant, perform, recordedEvents } from "../harness/context.ts";

/** The area on a test database, with a clock that the test moves. */
export function billingFixture(db: Database, usageSources: readonly UsageSource[] = []) {
  const platformTenantId = freshTenant();
  const clock = { nowMs: Date.UTC(2026, 0, 31, 12), now: () => clock.nowMs };
  const events = recordedEvents();
  const { config } = loadConfig({ overrides: ["server.internal_addr="] });
  const newNode = () =>
    createBilling({
      ...{ config, db, clock, events, usageSources, log: { error() {} } },
      ...announcedChanges(),
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
