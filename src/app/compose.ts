import type { Plane } from "../chain/call.ts";
import type { OperationCaller } from "../chain/operation-caller.ts";
import { currentVersion } from "../chain/steps/api-version.ts";
import { type Operation, readOperations } from "../definitions/index.ts";
import { createBilling } from "../modules/billing/index.ts";
import { createConnectors } from "../modules/connectors/index.ts";
import { createExperiments } from "../modules/experiments/index.ts";
import { createIdentity, identityScopes, sealedByIdentity } from "../modules/identity/index.ts";
import { createNotifications } from "../modules/notifications/index.ts";
import { createOperations } from "../modules/operations/index.ts";
import { createRouting } from "../modules/routing/index.ts";
import { createTenancy, type Tenant } from "../modules/tenancy/index.ts";
import { createWorkflows } from "../modules/workflows/index.ts";
import { grantableScopes } from "../platform/access/index.ts";
import { createCursors } from "../platform/cursor/index.ts";
import { createSignals, createTenantChanges } from "../platform/db/index.ts";
import { createEgress } from "../platform/egress/index.ts";
import { createJobRunner } from "../platform/jobs/index.ts";
import { createEventLoopShares } from "../platform/scheduling/index.ts";
import { createCapabilitySources } from "./capabilities.ts";
import type { Foundation } from "./foundation.ts";
import { createIdempotencyCleanupJob } from "./idempotency-job.ts";
import { createInvokers } from "./invokers.ts";
import { openKeyring } from "./keyring.ts";
import { readInstanceSecret } from "./storage.ts";

/** A node's parts, composed but not started. */
export type Node = Awaited<ReturnType<typeof compose>>;

/** Composes the areas into a node. Only this function connects instances of different areas. */
export async function compose(foundation: Foundation) {
  const { config, db, clock, log, metrics } = foundation;
  const signals = createSignals(db);
  const changes = createTenantChanges(db, signals);
  const jobs = createJobRunner({ db, signals, clock, log });
  const keyring = openKeyring(config);
  const egress = createEgress({
    mode: config["egress.mode"],
    allowedDomains: config["egress.allowed_domains"],
    allowedIpNets: config["egress.allowed_ip_nets"],
    log,
    metrics,
    clock,
  });
  const definitions = readOperations();
  const operationsOf = (plane: Plane): readonly Operation[] =>
    plane === "internal" ? definitions : definitions.filter(({ governance }) => !governance.internalOnly);
  let platform: Tenant | undefined;
  /** Where callers reach this node. The listeners complete it if the settings do not say. */
  const address = { publicUrl: config["api.public_url"] };
  const parts = {
    ...foundation,
    signals,
    changes,
    shares: createEventLoopShares(),
    jobs,
    cursors: createCursors(await readInstanceSecret(db.sql, "cursor_secret")),
    keyring,
    egress,
    platformTenantId: () => platform!.id,
  };

  const call: OperationCaller = (method, origin, request) => invoke.call(method, origin, request);
  const operations = createOperations({
    ...parts,
    discovery: {
      capabilities: createCapabilitySources({ ...foundation, keyring }),
      operationsOf,
      apiVersion: currentVersion,
    },
  });
  const { events, eventLogs } = operations;
  const connectors = createConnectors({
    ...parts,
    events,
    publicUrl: () => address.publicUrl,
    quotas: () => tenants.quotas,
    environments: { require: (context, id) => workflows.environments.require(context, id) },
    compileTemplate: (template, variables) => workflows.compileTemplate(template, variables),
    findPoolId: (tenantId, environmentId, nameOrId) => routing.findPoolId(db.sql, tenantId, environmentId, nameOrId),
    call: (method, origin, request) => invoke.call(method, origin, request),
    check: (providerKey, settings, credentials) =>
      notifications.providers.check(providerKey, undefined, settings, credentials),
    marketplace: {
      packRecords: () => [...workflows.packRecords, ...notifications.packRecords, ...routing.packRecords],
      findUses: () => [workflows.findUses, routing.findUses],
      findPool: (sql, tenantId, idOrName) => routing.findNamedPool(sql, tenantId, idOrName),
      findEnvironment: (sql, tenantId, idOrKey) => tenancy.findEnvironment(sql, tenantId, idOrKey),
    },
  });
  const { connections } = connectors;
  const tenancy = createTenancy({
    ...parts,
    events,
    scopes: grantableScopes([...definitions.flatMap(({ scopes }) => scopes), ...identityScopes]),
    sealed: [...operations.sealed, ...connectors.sealed, ...sealedByIdentity(db.sql)],
    releaseTenant: (tenantId) => workflows.releaseTenant(tenantId),
    readLimits: (tenantId) => billing.readLimits(tenantId),
  });
  const { tenants, secrets, apiKeys } = tenancy;
  const experiments = createExperiments({
    ...parts,
    events,
    quotas: () => tenants.quotas,
    receiptSecret: await readInstanceSecret(db.sql, "experiment_receipt_secret"),
  });
  const identity = createIdentity({
    ...parts,
    ...{ events, apiKeys, members: tenancy.members.accounts, readTenantState: tenants.readTenantState },
    publicUrl: () => address.publicUrl,
  });
  const routing = createRouting({
    ...parts,
    events,
    admissionSecret: await readInstanceSecret(db.sql, "admission_secret"),
    secret: async (sql, tenantId, name) => (await secrets.read(sql, tenantId, name))?.value,
    assignExperiments: experiments.assignItem,
    recordScores: experiments.recordOutcomes,
    call,
  });
  const notifications = createNotifications({ ...parts, events, connections, quotas: tenants.quotas });

  const workflows = createWorkflows({
    ...parts,
    events,
    eventLogs,
    takeQuota: tenants.takeQuota,
    findPools: routing.findPools,
    findPoolId: (tenantId, environmentId, nameOrId) => routing.findPoolId(db.sql, tenantId, environmentId, nameOrId),
    findExperimentId: experiments.findExperimentId,
    findExperiments: experiments.findExperiments,
    findNotificationWorkflows: notifications.findNotificationWorkflows,
    checkActionUse: connectors.checkActionUse,
    call,
  });

  const billing = createBilling({
    ...parts,
    events,
    readTenantState: tenants.readTenantState,
    usageSources: [routing, notifications, workflows, connectors].flatMap(({ usageSources }) => usageSources),
  });

  const areas = [tenancy, identity, connectors, routing, notifications, experiments, workflows, operations, billing];
  const ttlHours = config["idempotency.ttl_hours"];
  for (const kind of [
    ...areas.flatMap((area) => area.jobs),
    createIdempotencyCleanupJob({ ...parts, sql: db.sql, ttlHours }),
  ]) {
    jobs.register(kind);
  }

  const invoke = await createInvokers({
    ...parts,
    tenancy,
    checkEntitlement: billing.checkEntitlement,
    sessions: identity.sessions,
    definitions,
    handlers: Object.assign({}, ...areas.map((area) => area.handlers)),
  });

  return {
    ...{ signals, changes, jobs, egress, operationsOf, tenancy, routing, notifications, workflows, operations, invoke },
    ...{ connectors, identity, experiments, billing, address, clock },
    confirmationSecret: await readInstanceSecret(db.sql, "mcp_confirmation_secret"),
    /** Background loops, in start order. */
    workers: [jobs, ...areas.flatMap((area) => area.workers)],
    /** Loads the platform tenant. The first start creates it. */
    async loadPlatformTenant(): Promise<Tenant> {
      platform = await tenants.ensurePlatform();
      return platform;
    },
  };
}
