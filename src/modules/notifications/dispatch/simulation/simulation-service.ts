import type { SimulateTriggersRequest } from "../../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import { createTenantConcurrencyLimiter } from "../../../../platform/event-loop/index.ts";
import { type Integrations, newIntegration } from "../../integrations/index.ts";
import type { Layouts } from "../../layouts/index.ts";
import type { Preferences } from "../../preferences/index.ts";
import { readBatchContext } from "../message/batch-context.ts";
import { createMessagePreparer, type MessagePreparationParts } from "../message/message-preparation.ts";
import type { RecipientParts } from "../message/recipients.ts";
import { findRecordedMessages, readRecordedTriggers } from "./recorded-trigger-store.ts";
import { type Configuration, requestedChannels, simulateTrigger } from "./simulated-trigger.ts";
import { TriggerTally } from "./trigger-tally.ts";

/** Simulations that a node runs at the same time. */
const simulationsMax = 2;

interface Dependencies extends MessagePreparationParts, RecipientParts {
  readonly preferences: Pick<Preferences, "readLayers" | "resolve" | "workflow" | "draft">;
  readonly integrations: Pick<Integrations, "choose" | "find" | "draft">;
  readonly layouts: MessagePreparationParts["layouts"] & Pick<Layouts, "draft">;
  readonly verifiedOnly: boolean;
  readonly holds: boolean;
}

/** The recorded messages to resolve again. */
export interface SimulationRange {
  readonly from: Date;
  readonly until: Date;
  readonly messagesMax: number;
}

/** Resolves recorded triggers again. */
export type SimulationService = ReturnType<typeof createSimulationService>;

/** Creates the service. It decides with the code that triggers use; nothing is sent or stored. */
export function createSimulationService(dependencies: Dependencies) {
  const { preferences, integrations, layouts, connections, shares } = dependencies;
  const simulations = createTenantConcurrencyLimiter(simulationsMax);

  /** The configuration that is stored, and the one with the changes. `clock`: the time that templates see. */
  async function configurationsOf(context: Context, changes: SimulateTriggersRequest, clock: { now(): number }) {
    const [drafted, choice, layoutFor] = [
      await preferences.draft(context, changes),
      await integrations.draft(context, changes),
      await layouts.draft(context, changes),
    ];
    // A refresh would call a provider.
    const open: typeof connections.open = (tenantId, id) => connections.open(tenantId, id, { refreshes: false });
    const parts = { ...dependencies, clock, connections: { open } };
    const before: Configuration = {
      workflow: preferences.workflow,
      layersOf: (layers) => layers,
      prepare: createMessagePreparer(parts),
    };
    const after: Configuration = {
      ...drafted,
      prepare: createMessagePreparer({ ...parts, integrations: choice, layouts: { ...layouts, layoutFor } }),
    };
    return { before, after, choice };
  }

  async function simulate(context: Context, changes: SimulateTriggersRequest, range: SimulationRange) {
    const { sql, tenantId, signal } = context;
    let nowMs = 0;
    const { before, after, choice } = await configurationsOf(context, changes, { now: () => nowMs });
    const { workflowKey } = changes;
    const recorded = await findRecordedMessages(sql, tenantId, { ...range, workflowKey });
    const tally = new TriggerTally();
    const slices = shares.forCall(tenantId);
    let firstMs: number | undefined;
    for await (const page of recorded === undefined ? [] : readRecordedTriggers(sql, tenantId, recorded)) {
      const batch = await readBatchContext(dependencies, sql, page);
      for (const trigger of page) {
        if (slices.isOver()) {
          await slices.next();
          signal.throwIfAborted();
        }
        const recipient = batch.recipientOf(trigger);
        if (recipient === undefined) continue;
        const stored = batch.payloadOf(trigger);
        const { payload, overrides } = stored?.body ?? { payload: {}, overrides: {} };
        nowMs = trigger.atMs;
        firstMs ??= nowMs;
        const requested = requestedChannels(trigger, await before.workflow(tenantId, trigger.workflowKey));
        const question = { trigger, recipient, payload, overrides, requestedChannels: requested };
        const was = await simulateTrigger(dependencies, before, question);
        const is = await simulateTrigger(dependencies, after, question);
        tally.add(trigger, stored !== undefined, was, is);
      }
    }
    const nameOf = async (id: string) =>
      ((await choice.find(tenantId, id)) ?? (await integrations.find(tenantId, id)))?.name;
    const { senders, examples, ...report } = tally.report();
    return {
      ...report,
      integrations: await Promise.all(
        senders.map(async ([id, counts]) => {
          const name = await nameOf(id);
          return {
            integrationId: name === undefined || id.startsWith(newIntegration) ? "" : id,
            name: name ?? id,
            ...counts,
          };
        }),
      ),
      examples: await Promise.all(
        examples.map(async (example) => {
          if (example.change !== "integration") return example;
          const { before: was, after: is } = example;
          return { ...example, before: (await nameOf(was)) ?? was, after: (await nameOf(is)) ?? is };
        }),
      ),
      firstAt: firstMs === undefined ? undefined : new Date(firstMs),
      lastAt: firstMs === undefined ? undefined : new Date(nowMs),
      isCut: recorded?.isCut === true,
    };
  }

  return {
    /** Resolves recorded triggers with the stored configuration and with changes. A tenant has one simulation at a time. */
    simulateTriggers(context: Context, changes: SimulateTriggersRequest, range: SimulationRange) {
      return simulations.run("all", context.tenantId, () => simulate(context, changes, range));
    },
  };
}
