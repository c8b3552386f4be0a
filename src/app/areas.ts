import type { Plane } from "../chain/call.ts";
import type { OperationCaller } from "../chain/operation-caller.ts";
import { currentVersion } from "../chain/steps/api-version.ts";
import type { Operation } from "../definitions/index.ts";
import type { Area, PlatformServices } from "../modules/area.ts";
import { createBilling } from "../modules/billing/index.ts";
import { createConnectors } from "../modules/connectors/index.ts";
import { createExperiments } from "../modules/experiments/index.ts";
import { createGovernance, sealedByGovernance, waiverScope } from "../modules/governance/index.ts";
import { createIdentity, identityScopes, sealedByIdentity } from "../modules/identity/index.ts";
import { createNotifications } from "../modules/notifications/index.ts";
import { createOperations } from "../modules/operations/index.ts";
import { createRouting } from "../modules/routing/index.ts";
import { createTenancy } from "../modules/tenancy/index.ts";
import { createWorkflows } from "../modules/workflows/index.ts";
import { grantableScopes, rolesWith } from "../platform/access/index.ts";
import { createCapabilitySources } from "./capabilities.ts";
import type { Foundation } from "./foundation.ts";
import type { OwnRequests } from "./listener/own-requests.ts";
import { readInstanceSecret } from "./storage.ts";
import { version } from "./version.ts";

interface Dependencies extends Foundation, PlatformServices {
  readonly definitions: readonly Operation[];
  /** The operations that a plane serves. */
  readonly operationsOf: (plane: Plane) => readonly Operation[];
  /** Where callers reach this node. */
  readonly publicUrl: () => string;
  /** Calls an operation in process. */
  readonly call: OperationCaller;
  /** Sends requests to this node itself. */
  readonly ownRequests: OwnRequests;
}

/** Creates the areas of the product. Only this function connects instances of different areas. */
export async function createAreas(dependencies: Dependencies) {
  const { db, keyring, definitions, operationsOf, publicUrl, call } = dependencies;
  const capabilities = createCapabilitySources({ ...dependencies, keyring });
  const operations = createOperations({
    ...dependencies,
    version,
    explainers: () => [routing, notifications, workflows, connectors].flatMap((area) => area.explainers),
    historySources: () => [routing, workflows, notifications].flatMap((area) => area.historySources),
    discovery: {
      ...{ capabilities, operationsOf, apiVersion: currentVersion },
      names: () => all.flatMap(({ names = [] }) => names),
    },
    health: {
      environments: {
        find: (sql, tenantId, idOrKey) => tenancy.findEnvironment(sql, tenantId, idOrKey),
        list: (context, page) => tenancy.listEnvironments(context, page),
      },
      sources: () => ({ ...workflows.healthSources, ...routing.healthSources }),
      dependencies: {
        database: () => db.ping().then(() => true),
        cache: dependencies.isCacheReachable,
        queue: async () => dependencies.jobs.isAlive(),
      },
    },
  });
  const { events, eventLogs, history } = operations;
  const connectors = createConnectors({
    ...dependencies,
    events,
    publicUrl,
    quotas: () => tenants.quotas,
    environments: { require: (context, id) => workflows.environments.require(context, id) },
    compileTemplate: (template, variables) => workflows.compileTemplate(template, variables),
    findPoolId: (tenantId, environmentId, nameOrId) => routing.findPoolId(db.sql, tenantId, environmentId, nameOrId),
    call,
    check: (providerKey, settings, credentials) => notifications.providers.check(providerKey, settings, credentials),
    marketplace: {
      packRecords: () => [...workflows.packRecords, ...notifications.packRecords, ...routing.packRecords],
      findUses: () => [workflows.findUses, routing.findUses],
      findPool: (sql, tenantId, idOrName) => routing.findNamedPool(sql, tenantId, idOrName),
      findEnvironment: (sql, tenantId, idOrKey) => tenancy.findEnvironment(sql, tenantId, idOrKey),
    },
  });
  const { connections } = connectors;
  const tenancy = createTenancy({
    ...dependencies,
    events,
    scopes: grantableScopes([...definitions.flatMap(({ scopes }) => scopes), ...identityScopes, waiverScope]),
    sealed: [...operations.sealed, ...connectors.sealed, ...sealedByIdentity(db.sql), ...sealedByGovernance(db.sql)],
    endSessions: (...sessions) => identity.endSessions(...sessions),
    releaseTenant: (tenantId) => workflows.releaseTenant(tenantId),
    readLimits: (tenantId) => billing.readLimits(tenantId),
  });
  const { tenants, secrets, apiKeys } = tenancy;
  const experiments = createExperiments({
    ...dependencies,
    events,
    quotas: () => tenants.quotas,
    receiptSecret: await readInstanceSecret(db.sql, "experiment_receipt_secret"),
  });
  const identity = createIdentity({
    ...dependencies,
    ...{ events, apiKeys, members: tenancy.members.accounts, publicUrl },
  });
  const routing = createRouting({
    ...dependencies,
    events,
    admissionSecret: await readInstanceSecret(db.sql, "admission_secret"),
    secret: async (sql, tenantId, name) => (await secrets.read(sql, tenantId, name))?.value,
    assignExperiments: experiments.assignItem,
    recordScores: experiments.recordOutcomes,
    call,
  });
  const notifications = createNotifications({
    ...dependencies,
    events,
    history,
    connections,
    messaging: connectors.messaging,
    quotas: tenants.quotas,
    subscriberTokenSecret: await readInstanceSecret(db.sql, "subscriber_token_secret"),
  });

  const workflows = createWorkflows({
    ...dependencies,
    events,
    history,
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
    ...dependencies,
    events,
    readTenantState: tenants.readTenantState,
    usageSources: [routing, notifications, workflows, connectors].flatMap(({ usageSources }) => usageSources),
  });

  const approvers = rolesWith("promotion:approve");
  const governance = createGovernance({
    ...dependencies,
    events,
    version,
    capabilities,
    scratchTenants: tenants.scratch,
    send: dependencies.ownRequests.send,
    tests: experiments.guardrailTests,
    artifacts: () => [...routing.artifacts, ...workflows.artifacts, ...connectors.artifacts],
    findIdentities({ sql, tenantId, principal }) {
      const { subject, memberId, email } = principal;
      const more = [memberId && `member:${memberId}`, email && `email:${email.toLowerCase()}`];
      return tenancy.findIdentities(sql, tenantId, [subject, ...more.filter((each) => each !== undefined)]);
    },
    findAuthors: ({ sql, tenantId }, subjects) => tenancy.findIdentities(sql, tenantId, subjects),
    countApprovers: ({ sql, tenantId }, except) => tenancy.countOtherMembers(sql, tenantId, approvers, except),
    readPolicy: ({ sql, tenantId }, environmentId) => tenancy.readPromotionPolicy(sql, tenantId, environmentId),
  });

  const areas = { tenancy, identity, connectors, routing, notifications, experiments, workflows, operations, billing };
  const all: readonly Area[] = [...Object.values(areas), governance];
  return { ...areas, governance, all };
}
