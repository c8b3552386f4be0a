import type { Plane } from "../chain/call.ts";
import type { OperationCaller } from "../chain/operation-caller.ts";
import { readOperations } from "../definitions/index.ts";
import type { Tenant } from "../modules/tenancy/index.ts";
import { createCursors } from "../platform/cursor/index.ts";
import { createSignals, createTenantChanges, openRedisTransport } from "../platform/db/index.ts";
import { createEgress } from "../platform/egress/index.ts";
import { createEventLoopScheduler } from "../platform/event-loop/index.ts";
import { deleteExpiredRecords } from "../platform/idempotency/index.ts";
import { createJobRunner, retentionJob, waitingJobs } from "../platform/jobs/index.ts";
import { createAreas } from "./areas.ts";
import type { Foundation } from "./foundation.ts";
import { createInvokers } from "./invokers.ts";
import { openKeyring } from "./keyring.ts";
import { createOwnRequests } from "./listener/own-requests.ts";
import { checkSunsetDates, servedOperations } from "./served-operations.ts";
import { readInstanceSecret } from "./storage.ts";

/** A node's parts, composed but not started. */
export type Node = Awaited<ReturnType<typeof compose>>;

/** Composes a node from its platform services and its areas. A test build has other areas. */
export async function compose(foundation: Foundation, createParts: typeof createAreas = createAreas) {
  const { config, db, clock, log, metrics } = foundation;
  const signals = createSignals(db, await signalTransportOf(foundation));
  const changes = createTenantChanges(db, signals);
  const jobs = createJobRunner({ db, signals, clock, log });
  const keyring = openKeyring(config);
  const egress = createEgress({
    mode: config["egress.mode"],
    allowedDomains: config["egress.allowed_domains"],
    allowedIpNets: config["egress.allowed_ip_nets"],
    nameServers: config["egress.name_servers"],
    log,
    metrics,
    clock,
  });
  const definitions = readOperations();
  checkSunsetDates(definitions, config);
  const operationsOf = (plane: Plane) => servedOperations(definitions, plane, config);
  let platform: Tenant | undefined;
  /** Where callers reach this node. The listeners complete it if the settings do not say. */
  const address = { publicUrl: config["api.public_url"] };
  const parts = {
    ...foundation,
    signals,
    changes,
    shares: createEventLoopScheduler(),
    jobs,
    cursors: createCursors(await readInstanceSecret(db.sql, "cursor_secret")),
    keyring,
    egress,
    platformTenantId: () => platform!.id,
  };

  const call: OperationCaller = (method, origin, request) => invoke.call(method, origin, request);
  const publicUrl = () => address.publicUrl;
  const ownRequests = createOwnRequests();
  const areas = await createParts({ ...parts, definitions, operationsOf, publicUrl, call, ownRequests });
  const { tenancy, identity, notifications, billing } = areas;
  const ageMs = config["idempotency.ttl_hours"] * 3_600_000;
  for (const kind of [
    ...areas.all.flatMap((area) => area.jobs),
    retentionJob(parts, {
      ...{ kind: "idempotency.delete_expired", everyMs: 3_600_000, batchSize: 5000 },
      rows: [{ ageMs, expire: deleteExpiredRecords }],
    }),
  ]) {
    jobs.register(kind);
  }

  const invoke = await createInvokers({
    ...parts,
    tenancy,
    checkEntitlement: billing.checkEntitlement,
    sessions: identity.sessions,
    subscriberTokens: notifications.subscriberTokens,
    names: areas.all.flatMap(({ names = [] }) => names),
    definitions,
    handlers: Object.assign({}, ...areas.all.map((area) => area.handlers)),
  });

  return {
    ...areas,
    ...{ signals, changes, jobs, egress, operationsOf, invoke, address, clock, ownRequests },
    backlogs: [waitingJobs, ...areas.all.flatMap(({ backlogs = [] }) => backlogs)],
    confirmationSecret: await readInstanceSecret(db.sql, "mcp_confirmation_secret"),
    /** Background loops, in start order. */
    workers: [jobs, ...areas.all.flatMap((area) => area.workers)],
    /** Loads the platform tenant. The first start creates it. */
    async loadPlatformTenant(): Promise<Tenant> {
      platform = await tenancy.tenants.ensurePlatform();
      return platform;
    },
  };
}

/** The transport of signals over Redis; undefined if they travel over NOTIFY. */
async function signalTransportOf({ config, db, log }: Foundation) {
  if (config["signals.backend"] === "postgres") return undefined;
  const installation = (await readInstanceSecret(db.sql, "signal_channel")).toString("hex", 0, 8);
  return openRedisTransport({
    url: config["cache.redis_url"],
    channel: `switchyard_wake:${installation}`,
    onInterrupted: (reason) => log.warn({ err: reason }, "signals over Redis are interrupted; polls find the work"),
  });
}
