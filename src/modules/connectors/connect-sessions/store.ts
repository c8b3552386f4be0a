import type { TenantId } from "../../../platform/access/index.ts";
import { addTenantKey, type Fragment, joinSelected, type Sql, tenantOfKey } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Authorization, ConnectSession, OpenSession, SessionError } from "./domain/connect-session.ts";
import type { EndStatus } from "./domain/session-status.ts";

/** The filter of a list. Empty fields match all. */
interface SessionFilter extends Record<"status" | "endUserId", string> {
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

export interface SessionEnd {
  readonly status: EndStatus;
  readonly resultConnectionId?: string;
  readonly errorCode?: SessionError;
  readonly errorDetail?: string;
}

/** An authorization with its one-time values. */
interface StartedAuthorization extends Authorization {
  /** Null for modes without a redirect. */
  readonly stateHash: Buffer | null;
  readonly stateExpiresAt: Date | null;
  readonly ciphertext: string;
}

type Unread = Omit<OpenSession, keyof ConnectSession>;

const sessions = recordTable<ConnectSession, Unread, ConnectSession & Pick<OpenSession, "tokenHash">>(
  "connector_connect_sessions",
  {
    fixed: `tenant_id id environment_id environment_key allowed_provider_keys provider_config_id end_user connection_id
      connection_name scopes allowed_origins success_redirect_uri error_redirect_uri require_completion expires_at
      created_at`,
    mutable: `status awaiting_completion result_connection_id error_code error_detail ended_at updated_at record_version`,
    internal: `token_hash cookie_hash attempts provider_key auth_mode used_config_id manifest_digest state_hash
      state_expires_at ciphertext completion_hash`,
  },
);

/** The SQL queries of connect sessions. Only the hosted page reads hashes and ciphertexts. */
export function connectSessionStore(sql: Sql) {
  const { columns, fullColumns: openColumns, insert, find, lockFull, listWhere } = sessions(sql);
  const ofActiveTenant = sql`exists (select from tenants where tenants.id = tenant_id and tenants.status = 'active')`;

  /** Changes a session that still has the version that was read; undefined if it has changed since. */
  function update(session: ConnectSession, now: Date, change: Fragment): Promise<OpenSession | undefined> {
    return sql<OpenSession[]>`
      update connector_connect_sessions set ${change}, updated_at = ${now}, record_version = record_version + 1
      where tenant_id = ${session.tenantId} and id = ${session.id} and record_version = ${session.recordVersion}
      returning ${openColumns}`.first();
  }

  return {
    async insert(session: ConnectSession, tokenHash: Buffer): Promise<ConnectSession> {
      await addTenantKey(sql, session.tenantId, session.id);
      return insert({ ...session, tokenHash });
    },
    find,
    lock: lockFull,

    /** Finds a session of any active tenant. The caller proves with a token or cookie that it may see it. */
    findOpen: (id: string) =>
      sql<OpenSession[]>`
        select ${openColumns} from connector_connect_sessions
        where tenant_id = ${tenantOfKey(sql, id)} and id = ${id} and ${ofActiveTenant}`.first(),

    /** Finds the session of an active tenant that an authorization belongs to. */
    findByState: (tenantId: TenantId, stateHash: Buffer) =>
      sql<OpenSession[]>`
        select ${openColumns} from connector_connect_sessions
        where tenant_id = ${tenantId} and state_hash = ${stateHash} and ${ofActiveTenant}`.first(),

    list(tenantId: TenantId, { status, endUserId, inProduction }: SessionFilter, page: Page, now: Date) {
      const current = sql`
        case when status in ('pending', 'authorizing') and expires_at <= ${now} then 'expired' else status end`;
      return listWhere(tenantId, { inProduction }, page, {
        where: endUserId === "" ? undefined : sql`end_user ->> 'id' = ${endUserId}`,
        filter: status === "" ? undefined : sql`${current} = ${status}`,
      });
    },

    /** Binds a session to a browser, unless another one has opened it before. */
    async open(session: OpenSession, cookieHash: Buffer, now: Date): Promise<boolean> {
      const rows = await sql`
        update connector_connect_sessions
        set cookie_hash = ${cookieHash}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${session.tenantId} and id = ${session.id} and cookie_hash is null returning 1`;
      return rows.length > 0;
    },

    /** Counts a submission of the end user. */
    countAttempt: (session: OpenSession, now: Date) => update(session, now, sql`attempts = attempts + 1`),

    /** Starts an authorization. An earlier one ends: its state is unknown from now on. */
    authorize(session: OpenSession, started: StartedAuthorization, now: Date) {
      const change = sql`
        status = 'authorizing', provider_key = ${started.providerKey}, auth_mode = ${started.authMode},
        used_config_id = ${started.usedConfigId}, manifest_digest = ${started.manifestDigest},
        state_hash = ${started.stateHash}, state_expires_at = ${started.stateExpiresAt}, ciphertext = ${started.ciphertext}`;
      return update(session, now, change);
    },

    /** Spends the state of an authorization. The sealed values stay until the authorization ends. */
    spendState: (session: OpenSession, now: Date) =>
      update(session, now, sql`state_hash = null, state_expires_at = null`),

    /** Makes a session wait for the backend that completes it. */
    hold: (session: OpenSession, held: { completionHash: Buffer; ciphertext: string }, now: Date) =>
      update(
        session,
        now,
        sql`status = 'authorizing', awaiting_completion = true, completion_hash = ${held.completionHash},
        ciphertext = ${held.ciphertext}, state_hash = null, state_expires_at = null`,
      ),

    /** Takes the callback that awaits completion. It stays until the session ends, for the case that the node ends before. */
    takeHeld: (session: OpenSession, now: Date) => update(session, now, sql`awaiting_completion = false`),

    /** Lets the end user start again. */
    retry: (session: OpenSession, now: Date) =>
      update(session, now, sql`status = 'pending', state_hash = null, state_expires_at = null, ciphertext = ''`),

    /** Ends a session and erases everything that could continue it. */
    end: (session: ConnectSession, end: SessionEnd, now: Date) =>
      update(
        session,
        now,
        sql`status = ${end.status}, result_connection_id = ${end.resultConnectionId ?? ""},
          error_code = ${end.errorCode ?? ""}, error_detail = ${end.errorDetail ?? ""}, ended_at = ${now},
          awaiting_completion = false, state_hash = null, state_expires_at = null, ciphertext = ''`,
      ),

    /** Finds and locks sessions whose time is over. */
    async lockExpired(now: Date, limit: number): Promise<ConnectSession[]> {
      return sql<ConnectSession[]>`
        select ${columns} from connector_connect_sessions
        where status in ('pending', 'authorizing') and expires_at <= ${now}
        order by expires_at limit ${limit} for update skip locked`;
    },

    /** Deletes sessions that ended before a time. */
    async deleteEnded(before: Date, limit: number): Promise<number> {
      const ended = sql`
        from connector_connect_sessions where ended_at < ${before} limit ${limit} for update skip locked`;
      const joined = joinSelected(sql, "connector_connect_sessions", ended);
      const [deleted] = await sql<{ count: number }[]>`
        with deleted as (delete from connector_connect_sessions using ${joined} returning id),
          keys as (delete from tenant_directory using deleted where key = deleted.id)
        select count(*)::int as count from deleted`;
      return deleted!.count;
    },

    async findTenantName(tenantId: TenantId): Promise<string> {
      const [row] = await sql<{ name: string }[]>`select name from tenants where id = ${tenantId}`;
      return row?.name ?? "";
    },
  };
}
