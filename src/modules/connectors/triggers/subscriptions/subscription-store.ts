import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../../platform/paging/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import { type RegistrationStatus, type Subscription, subscriptionsMax } from "../domain/subscription.ts";
import type { SealedSecrets } from "../sealed-secrets.ts";

/** The filter of a list of subscriptions. Empty fields match all. */
interface SubscriptionFilter extends Pick<Subscription, "connectionId" | "triggerKey"> {
  readonly status: string;
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

/** A subscription to insert. */
type NewSubscriptionRow = NewRow & { readonly sealed: SealedSecrets };

/** The fields that callers change. Undefined fields stay unchanged. */
export type FieldChange = {
  readonly [F in "name" | "input" | "condition" | "target"]?: Subscription[F] | undefined;
};

/** A change of a subscription. Undefined fields stay unchanged. */
interface StoredChange extends FieldChange {
  readonly sealed?: SealedSecrets | undefined;
  readonly paused?: boolean | undefined;
  /** Set when the intake starts again from here. */
  readonly restart?: Pick<Subscription, "readyAt" | "pollDueAt"> | undefined;
}

type Row = Omit<Subscription, "registration"> & {
  readonly registration:
    | (Omit<RegistrationStatus, "expiresAt" | "dueAt"> & Record<"expiresAt" | "dueAt", string | null>)
    | null;
};

const usesMax = 100;

type NewRow = Pick<Subscription, "tenantId" | "id" | "environmentId" | "environmentKey" | "name" | "triggerKey"> &
  Pick<Subscription, "providerKey" | "connectionId" | "kind" | "input" | "condition" | "target"> &
  Pick<Subscription, "readyAt" | "pollDueAt" | "createdAt"> & { readonly shard: number };
/** The internal columns that an insert sets. */
type Internal = SealedSecrets & Pick<NewRow, "shard">;

const subscriptions = recordTable<Row, Internal, NewRow & Internal & Pick<Subscription, "updatedAt">>(
  "connector_trigger_subscriptions",
  {
    fixed: "tenant_id id environment_id environment_key trigger_key provider_key connection_id kind created_at",
    mutable: `name input condition target paused status intake_error delivery_error ready_at last_event_at scanned_at
    poll_due_at poll_failures updated_at record_version`,
    internal: "ciphertext key_id shard",
    computed: (sql) => sql`
    (select json_build_object('state', state, 'externalId', external_id, 'expiresAt', expires_at, 'failures', failures,
        'dueAt', due_at)
      from connector_trigger_registrations registration
      where registration.tenant_id = connector_trigger_subscriptions.tenant_id
        and registration.subscription_id = connector_trigger_subscriptions.id and state <> 'removing'
      order by registration.id desc limit 1) as registration`,
  },
);

/** The SQL queries of subscriptions for callers. */
export function subscriptionStore(sql: Sql) {
  const { insert, find, lockFull, remove, listWhere } = subscriptions(sql);
  return {
    remove,

    async find(tenantId: TenantId, id: string): Promise<Subscription | undefined> {
      const row = await find(tenantId, id);
      return row && toSubscription(row);
    },

    /** Finds a subscription with its secrets and locks it until the transaction ends. */
    async lock(tenantId: TenantId, id: string): Promise<(Subscription & SealedSecrets) | undefined> {
      const row = await lockFull(tenantId, id);
      return row && { ...toSubscription(row), ciphertext: row.ciphertext, keyId: row.keyId };
    },

    async isFull(tenantId: TenantId): Promise<boolean> {
      const rows = await sql`
        select from connector_trigger_subscriptions where tenant_id = ${tenantId} offset ${subscriptionsMax - 1} limit 1`;
      return rows.length > 0;
    },

    async hasProvider(tenantId: TenantId, providerKey: string): Promise<boolean> {
      const rows = await sql`
        select from connector_trigger_subscriptions
        where tenant_id = ${tenantId} and provider_key = ${providerKey} limit 1`;
      return rows.length > 0;
    },

    /** The names of subscriptions to providers, or of those that start workflows or route to pools. */
    async namesOfUses(
      tenantId: TenantId,
      kind: "manifest" | "workflow_definition" | "pool",
      names: readonly string[],
    ): Promise<readonly string[]> {
      const used = {
        manifest: sql`provider_key`,
        workflow_definition: sql`target ->> 'definition'`,
        pool: sql`target -> 'request' ->> 'pool'`,
      };
      const rows = await sql<{ name: string }[]>`
        select name from connector_trigger_subscriptions
        where tenant_id = ${tenantId} and ${used[kind]} = any(${names as string[]}::text[]) order by id limit ${usesMax}`;
      return rows.map(({ name }) => name);
    },

    insert: ({ sealed, ...row }: NewSubscriptionRow) => insert({ ...row, ...sealed, updatedAt: row.createdAt }),

    async list(tenantId: TenantId, filter: SubscriptionFilter, page: Page): Promise<PageRows<Subscription>> {
      const { connectionId, triggerKey, status, inProduction } = filter;
      const isFiltered = triggerKey !== "" || status !== "" || inProduction !== undefined;
      const further = sql`true
        ${triggerKey === "" ? sql`` : sql`and trigger_key = ${triggerKey}`}
        ${status === "" ? sql`` : sql`and status = ${status}`}
        ${inProduction === undefined ? sql`` : sql`and (environment_key = 'production') = ${inProduction}`}`;
      const options = { filter: isFiltered ? further : undefined };
      const { rows, ...rest } = await listWhere(tenantId, { connectionId }, page, options);
      return { rows: rows.map(toSubscription), ...rest };
    },

    /** Changes a subscription; false if the expected version is not current. */
    async update(
      tenantId: TenantId,
      id: string,
      change: StoredChange,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<boolean> {
      const { name, input, condition, target, sealed, paused, restart } = change;
      const { count } = await sql`
        update connector_trigger_subscriptions set
          name = coalesce(${name ?? null}, name), condition = coalesce(${condition ?? null}, condition),
          input = coalesce(${input === undefined ? null : JSON.stringify(input)}::text::json, input),
          target = coalesce(${target === undefined ? null : JSON.stringify(target)}::text::json, target),
          ciphertext = coalesce(${sealed?.ciphertext ?? null}, ciphertext), key_id = coalesce(${sealed?.keyId ?? null}, key_id),
          paused = coalesce(${paused ?? null}::boolean, paused)
          ${target === undefined && condition === undefined ? sql`` : sql`, delivery_error = ''`}
          ${
            restart === undefined
              ? sql``
              : sql`, ready_at = ${restart.readyAt}, poll_due_at = ${restart.pollDueAt}, poll_claim = '', poll_failures = 0,
                  scanned_at = null, scan = null, intake_error = '', expired = false`
          }
          , updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)`;
      return count === 1;
    },
  };
}

function toSubscription({ registration, ...row }: Row): Subscription {
  if (registration === null) return { ...row, registration };
  const date = (text: string | null) => (text === null ? null : new Date(text));
  const { expiresAt, dueAt } = registration;
  return { ...row, registration: { ...registration, expiresAt: date(expiresAt), dueAt: date(dueAt) } };
}
