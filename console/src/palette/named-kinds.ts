import { createApiKeyService } from "@client/gen/api-key";
import { createConnectorCatalogService } from "@client/gen/connector-catalog";
import { createExperimentService } from "@client/gen/experiment";
import { createMemberService } from "@client/gen/member";
import { createNotificationWorkflowService } from "@client/gen/notification-workflow";
import { createPoolService } from "@client/gen/pool";
import { createPromotionService } from "@client/gen/promotion";
import { createQueueService } from "@client/gen/queue";
import { createRecipientService } from "@client/gen/recipient";
import { createScheduleService } from "@client/gen/schedule";
import { createSubscriberService } from "@client/gen/subscriber";
import { createTopicService } from "@client/gen/topic";
import { createWebhookService } from "@client/gen/webhook";
import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import type { List } from "@client/transport/list";
import { href } from "../core/router";
import { can } from "../core/session";
import { unlistedTransport as transport } from "../core/transport";
import { words } from "../ui/format";
import type { IconName } from "../ui/icon";
import { announce } from "../ui/toast";
import type { Found } from "./found";

export interface NamedRecord extends Found {
  /** Empty for a kind that is known by its key only. */
  readonly id: string;
  /** Empty for a kind without keys. */
  readonly key: string;
  /** In lower case. */
  readonly names: readonly string[];
  /** What can be done with it, by the verb that somebody types before its name. */
  readonly verbs: Readonly<Record<string, Found>>;
}

interface RecordPage {
  readonly records: readonly NamedRecord[];
  /** The number of records on all pages, or more than any page has if they were not counted. */
  readonly total: number;
}

/** A kind of records that are found by their names. */
export interface NamedKind {
  readonly scope: string;
  /** In words, for one. */
  readonly kind: string;
  /** In words, for many. */
  readonly plural: string;
  /** Reads all records, page by page. */
  pages(): AsyncIterableIterator<RecordPage>;
  /** Records that the service finds by a filter, among any number of them. */
  lookUp(text: string): Promise<readonly NamedRecord[]>;
}

interface KindOptions<Row> {
  readonly scope: string;
  readonly kind: string;
  readonly plural: string;
  readonly icon: IconName;
  readonly list: (page: { readonly limit: number }) => List<Row>;
  /** Filters of the service by a name, or by the start of one. */
  readonly lookUps?: readonly ((text: string) => List<Row>)[];
  /** The names to look at; the first one that is not empty is shown. */
  readonly namesOf: (row: Row) => readonly string[];
  readonly pathOf: (row: Row) => string;
  /** Query that opens the record on a list page. */
  readonly queryOf?: (row: Row) => Readonly<Record<string, string>>;
  readonly verbs?: Readonly<Record<string, Verb<Row>>>;
}

/** Something that can be done with a record: at once, or in a dialog that the address opens. */
interface Verb<Row> {
  readonly scope: string;
  readonly hrefOf?: (row: Row) => string;
  readonly run?: (row: Row) => void;
}

const pageSize = 1000;
const foundMax = 12;

/** Declares a kind of records that are found by their names. */
export function namedKind<Row>({ scope, plural, list, lookUps = [], ...options }: KindOptions<Row>): NamedKind {
  const toRecord = (row: Row): NamedRecord => {
    const names = options.namesOf(row).filter((name) => name !== "");
    const found = {
      title: names[0] ?? "",
      kind: options.kind,
      icon: options.icon,
      href: href(options.pathOf(row), options.queryOf?.(row)),
    };
    const verbs = Object.entries(options.verbs ?? {})
      .filter(([, verb]) => can(verb.scope))
      .map(([name, { hrefOf, run }]) => {
        const title = `${words(name)} ${found.title}`;
        return [name, { ...found, title, ...(hrefOf && { href: hrefOf(row) }), ...(run && { run: () => run(row) }) }];
      });
    return {
      ...found,
      names: names.map((name) => name.toLowerCase()),
      verbs: Object.fromEntries(verbs),
      ...identityOf(row as Identity),
    };
  };
  return {
    scope,
    kind: options.kind,
    plural,
    async *pages() {
      for await (const { items, total, totalCapped } of list({ limit: pageSize }).pages()) {
        yield { records: items.map(toRecord), total: totalCapped ? Number.POSITIVE_INFINITY : total };
      }
    },
    async lookUp(text) {
      const found = await Promise.all(lookUps.map(async (read) => (await read(text).page()).items));
      return found.flat().map(toRecord);
    },
  };
}

/** The members that identify the rows of all kinds. */
interface Identity {
  readonly id?: string;
  readonly key?: string;
  readonly workflow_key?: string;
}

function identityOf({ id = "", key = "", workflow_key = key }: Identity) {
  return { id, key: workflow_key };
}

/** The kinds, in the order in which their records are shown. */
export const namedKinds: readonly NamedKind[] = [
  namedKind({
    scope: "pool:read",
    kind: "Pool",
    plural: "pools",
    icon: "pools",
    list: (page) => createPoolService(transport).list(page),
    namesOf: ({ name }) => [name],
    pathOf: ({ id }) => `pools/${id}`,
    verbs: {
      pause: { scope: "queue:write", hrefOf: ({ id }) => href(`queues/${id}`, { do: "pause" }) },
      resume: {
        scope: "queue:write",
        run: ({ id, name }) =>
          announce(
            createQueueService(transport).resume({ pool_id: id }),
            `The queue of ${name} hands out items again.`,
          ),
      },
    },
  }),
  namedKind({
    scope: "recipient:read",
    kind: "Recipient",
    plural: "recipients",
    icon: "members",
    list: (page) => createRecipientService(transport).list({ ...page, pool_id: "-" }),
    lookUps: [(text) => createRecipientService(transport).list({ pool_id: "-", name: text, limit: foundMax })],
    namesOf: ({ name }) => [name],
    pathOf: ({ pool_id }) => `pools/${pool_id}`,
    queryOf: () => ({ tab: "recipients" }),
  }),
  namedKind({
    scope: "schedule:read",
    kind: "Schedule",
    plural: "schedules",
    icon: "schedules",
    list: (page) => createScheduleService(transport).list(page),
    namesOf: ({ name }) => [name],
    pathOf: ({ id }) => `schedules/${id}`,
    verbs: {
      pause: {
        scope: "schedule:write",
        run: ({ id, name }) =>
          announce(createScheduleService(transport).pause({ schedule_id: id }), `${name} is paused.`),
      },
      resume: {
        scope: "schedule:write",
        run: ({ id, name }) =>
          announce(createScheduleService(transport).resume({ schedule_id: id }), `${name} fires again.`),
      },
    },
  }),
  namedKind({
    scope: "workflow_definition:read",
    kind: "Workflow",
    plural: "workflows",
    icon: "workflows",
    list: (page) => createWorkflowDefinitionService(transport).list(page),
    lookUps: [(text) => createWorkflowDefinitionService(transport).list({ key_prefix: text, limit: foundMax })],
    namesOf: ({ name, key }) => [name, key],
    pathOf: ({ id }) => `workflows/definitions/${id}`,
    verbs: {
      start: { scope: "workflow_run:write", hrefOf: ({ id }) => href(`workflows/definitions/${id}`, { do: "start" }) },
    },
  }),
  namedKind({
    scope: "experiment:read",
    kind: "Experiment",
    plural: "experiments",
    icon: "experiments",
    list: (page) => createExperimentService(transport).list(page),
    lookUps: [(text) => createExperimentService(transport).list({ key: text, limit: foundMax })],
    namesOf: ({ name, key }) => [name, key],
    pathOf: ({ id }) => `experiments/${id}`,
  }),
  namedKind({
    scope: "promotion:read",
    kind: "Promotion",
    plural: "promotions",
    icon: "promotions",
    list: (page) => createPromotionService(transport).listCandidates(page),
    namesOf: ({ name }) => [name],
    pathOf: ({ id }) => `promotions/${id}`,
  }),
  namedKind({
    scope: "webhook:read",
    kind: "Webhook",
    plural: "webhooks",
    icon: "webhooks",
    list: (page) => createWebhookService(transport).listEndpoints(page),
    namesOf: ({ description, url }) => [description, url],
    pathOf: ({ id }) => `webhooks/${id}`,
  }),
  namedKind({
    scope: "connector:read",
    kind: "Provider",
    plural: "providers",
    icon: "connectors",
    list: (page) => createConnectorCatalogService(transport).listProviders(page),
    lookUps: [(text) => createConnectorCatalogService(transport).listProviders({ query: text, limit: foundMax })],
    namesOf: ({ name, key }) => [name, key],
    pathOf: () => "connectors",
    queryOf: ({ key }) => ({ open: key }),
  }),
  namedKind({
    scope: "notification:read",
    kind: "Topic",
    plural: "topics",
    icon: "notifications",
    list: (page) => createTopicService(transport).list(page),
    namesOf: ({ name, key }) => [name, key],
    pathOf: ({ key }) => `notifications/topics/${key}`,
  }),
  namedKind({
    scope: "member:read",
    kind: "Member",
    plural: "members",
    icon: "members",
    list: (page) => createMemberService(transport).list(page),
    namesOf: ({ display_name, email }) => [display_name, email],
    pathOf: () => "members",
  }),
  namedKind({
    scope: "api_key:read",
    kind: "API key",
    plural: "API keys",
    icon: "keys",
    list: (page) => createApiKeyService(transport).list(page),
    namesOf: ({ name }) => [name],
    pathOf: () => "keys",
  }),
  namedKind({
    scope: "notification:read",
    kind: "Subscriber",
    plural: "subscribers",
    icon: "notifications",
    list: (page) => createSubscriberService(transport).list(page),
    lookUps: [
      (text) => createSubscriberService(transport).list({ external_id: text, limit: foundMax }),
      (text) => createSubscriberService(transport).list({ email: text, limit: foundMax }),
    ],
    namesOf: (each) => [`${each.first_name} ${each.last_name}`.trim(), each.external_id, each.email],
    pathOf: ({ id }) => `notifications/subscribers/${id}`,
  }),
  namedKind({
    scope: "notification:read",
    kind: "Notification",
    plural: "notifications",
    icon: "notifications",
    list: (page) => createNotificationWorkflowService(transport).list(page),
    namesOf: ({ name, workflow_key }) => [name, workflow_key],
    pathOf: ({ workflow_key }) => `notifications/workflows/${workflow_key}`,
  }),
];
