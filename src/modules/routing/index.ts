/**
 * Routing: from a work item to the recipient that completes it.
 *
 * pools: recipients, and the rules and strategy that choose among them. routing: decisions and their outcomes.
 * admission: constraints on items. queues: items that wait for a worker or are leased. dead letters: items that failed
 * permanently. anomaly: unusual behaviour of pools and recipients. artifacts: versions of pools that promotions activate.
 * schedules: items that are routed at certain times.
 */
import type { OperationCaller } from "../../chain/operation-caller.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { createAdmission, createAdmissionKeys } from "./admission/index.ts";
import { createAnomalies } from "./anomaly/index.ts";
import { createPoolArtifacts } from "./artifacts/index.ts";
import { createDeadLetters } from "./dead-letters/index.ts";
import { routingNames } from "./name-sources.ts";
import { createPools, recipientLoadStore } from "./pools/index.ts";
import { closeEmptyQueue, createQueues } from "./queues/index.ts";
import {
  type AssignExperiments,
  createAcceptance,
  createExperimentScorer,
  createLivePools,
  createOutcomeSink,
  createRouter,
  createRoutingMetrics,
  decisionUsage,
  type RecordScores,
} from "./routing/index.ts";
import { createSchedules } from "./schedules/index.ts";

interface Dependencies extends PlatformServices {
  readonly events: EventRecorder;
  /** The key of the admission group digests. */
  readonly admissionSecret: Buffer;
  /** Reads a tenant's secret by name; undefined when it does not exist. */
  readonly secret: (sql: Sql, tenantId: TenantId, name: string) => Promise<string | undefined>;
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
  readonly assignExperiments: AssignExperiments;
  readonly recordScores: RecordScores;
}

export function createRouting({ config, admissionSecret, ...parts }: Dependencies) {
  const { egress } = parts;
  const pools = createPools({
    ...parts,
    db: parts.cacheLoadDb,
    loads: recipientLoadStore,
    closeQueue: closeEmptyQueue,
    urlRefusal: egress.urlRefusal,
  });
  const live = createLivePools(parts);
  const metrics = createRoutingMetrics(parts.metrics);
  const scoreOutcomes = createExperimentScorer(parts.recordScores);
  const admission = createAdmission({
    ...parts,
    pools,
    keys: createAdmissionKeys(admissionSecret),
    wake: (tenantId, poolId) => queues.sweepAndWake(tenantId, poolId),
  });
  const deadLetters = createDeadLetters({
    ...parts,
    sql: parts.db.sql,
    pools,
    wake: (tenantId, poolId) => queues.wakeReady(tenantId, poolId),
    readmission: () => queues.readmission,
  });
  const queues = createQueues({
    ...parts,
    pools,
    deadLetters,
    admissionOf: admission.requestOf,
    outcomes: createOutcomeSink(live, scoreOutcomes, metrics.ended),
    filterAcceptable: createAcceptance({ ...parts, live }),
    onReady: (tenantId, poolId) => router.assigner.announceReadyItem(tenantId, poolId),
    onOfferEnded({ tenantId, poolId, recipientId, outcome }) {
      metrics.offerEnded(tenantId, outcome);
      if (outcome !== "accepted") live.recordRelease(tenantId, poolId, recipientId);
    },
    retentionDays: config["routing.retention_days"],
  });
  const router = createRouter({
    ...parts,
    pools,
    queues,
    live,
    metrics,
    scoreOutcomes,
    admissionOf: admission.requestOf,
    assignPollMs: config["routing.assign_poll_ms"],
    retentionDays: config["routing.retention_days"],
  });
  const anomalies = createAnomalies({ ...parts, pools });
  const schedules = createSchedules({ ...parts, pools });
  return {
    handlers: {
      "service.api.PoolService": pools.handlers.pools,
      "service.api.RecipientService": pools.handlers.recipients,
      "service.api.RuleService": pools.handlers.rules,
      "service.api.PoolVersionService": pools.handlers.versions,
      "service.api.RoutingService": router.handlers.routing,
      "service.api.OutcomeService": router.handlers.outcomes,
      "service.api.QueueService": queues.handlers.queues,
      "service.api.BulkOperationService": queues.handlers.bulk,
      "service.api.WorkService": queues.handlers.work,
      "service.api.OfferService": queues.handlers.offers,
      "service.api.AdmissionService": { ...admission.handlers, ...queues.handlers.explanations },
      "service.api.DeadLetterService": deadLetters.handlers,
      "service.api.AnomalyService": anomalies.handlers,
      "service.api.ScheduleService": schedules.handlers,
    },
    jobs: [...deadLetters.jobs, ...anomalies.jobs, ...queues.jobs, ...admission.jobs, ...router.jobs],
    workers: [queues.sweeper, queues.pushDispatcher, router.assigner, schedules.worker],
    names: routingNames,
    /** Finds which of some names and ids belong to pools that are not archived. */
    findPools: pools.findPools,
    /** Finds a pool of an environment that is not archived, by its name or id. */
    findPoolId: pools.findPoolId,
    /** Finds a pool that is not archived by its id or its name. */
    findNamedPool: pools.findNamedPool,
    /** Activated by promotions. */
    artifacts: createPoolArtifacts({ pools, shares: parts.shares, admissionOf: admission.requestOf }),
    /** The records that packs contain. */
    packRecords: pools.packRecords,
    /** Finds records that refer to records of other areas. */
    findUses: pools.findUses,
    usageSources: [decisionUsage],
    backlogs: [queues.backlog, deadLetters.backlog],
    healthSources: { queue_items: queues.health },
    historySources: [queues.history],
    /** In the order in which an item passes them. */
    explainers: [router.explainer, queues.explainer],
    services: [live],
    endWaits: queues.endWaits,
    idle: () => queues.idle(),
  } satisfies Area & Record<string, unknown>;
}
