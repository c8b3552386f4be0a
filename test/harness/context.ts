import { randomBytes } from "node:crypto";
import { create, type DescMessage, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  type AfterCommit,
  type Context,
  type OwnCommitHandler,
  PrepareAgain,
  type PreparedHandler,
} from "../../src/chain/call.ts";
import { readOperations } from "../../src/definitions/index.ts";
import { Failure } from "../../src/errors/index.ts";
import { grantedScopes, type Principal, type TenantId } from "../../src/platform/access/index.ts";
import { createCursors } from "../../src/platform/cursor/index.ts";
import { type Database, openDatabase, runAfterCommit } from "../../src/platform/db/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { type KeyOf, type PageRequest, type ReadRows, readPage } from "../../src/platform/paging/index.ts";
import { createMessageConverter } from "../../src/platform/records/index.ts";
import { afterFile } from "./after-file.ts";
import { freshDatabase } from "./postgres.ts";

/** A migrated database for the test file, opened like the service opens it and dropped after the last test. */
export async function testDatabase(maxConnections = 10): Promise<Database> {
  const { url, drop } = await freshDatabase();
  const db = openDatabase(url, { maxConnections });
  afterFile(async () => {
    await db.close();
    await drop();
  });
  return db;
}

/** Overrides of a test context. */
export interface ContextChoice extends Partial<Omit<Context, "principal">> {
  readonly subject?: string;
  readonly kind?: Principal["kind"];
  /** The caller's roles and scopes; an admin's when neither is given. */
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
  readonly environmentMode?: Principal["environmentMode"];
}

/** A new tenant id. */
export function freshTenant(): TenantId {
  return ulid(Date.now()) as TenantId;
}

/** A context like the chain creates it. */
export function contextFor(db: Database, choice: ContextChoice = {}): Context {
  const { roles, scopes, environmentMode = "any", subject = "key:test", kind = "api_key", ...rest } = choice;
  const tenantId = rest.tenantId ?? freshTenant();
  const given = roles ?? (scopes === undefined ? ["admin"] : []);
  return {
    operation: anyOperation,
    plane: "external",
    principal: {
      tenantId,
      subject,
      kind,
      roles: given,
      scopes: grantedScopes(given, scopes ?? []),
      environmentMode,
    },
    platform: false,
    requestId: "test",
    idempotencyKey: undefined,
    body: undefined,
    signal: new AbortController().signal,
    nowMs: Date.now(),
    sql: db.sql,
    async page<Row>(
      field: string,
      request: PageRequest,
      filter: readonly unknown[],
      read: ReadRows<Row>,
      keyOf?: KeyOf<Row>,
    ) {
      const scope = { tenantId, operation: anyOperation.id, filter };
      const { items, ...page } = await readPage(cursors, request, scope, keyOf ?? rowId, read);
      return { ...page, [field]: items } as never;
    },
    settingOf: () => undefined,
    quotaOf: () => undefined,
    takeQuota: () => undefined,
    recheckAccess: async () => {},
    waited: () => {},
    afterCommit: (action) => void action(),
    ...rest,
    tenantId,
  };
}

const operations = readOperations();
const anyOperation = operations[0]!;
const cursors = createCursors(randomBytes(32));

const rowId = (row: unknown) => (row as { readonly id: string }).id;

/** Runs a handler like the chain does: in one transaction, with the after-commit work after it, to a response message. */
export async function perform<I extends DescMessage, O>(
  db: Database,
  choice: ContextChoice,
  handler: ((context: Context, request: MessageShape<I>) => Promise<O>) | OwnCommitHandler | PreparedHandler,
  schema: I,
  request: MessageInitShape<I>,
): Promise<Extract<O, Message>> {
  if (typeof handler !== "function" && !("prepare" in handler))
    throw new Error("A handler with its own commit commits its own transaction");
  const actions: AfterCommit[] = [];
  const message = create(schema, request);
  const { output } = operations.find(({ method }) => method.input === schema)!.method;
  const toMessage = createMessageConverter(output);
  const afterCommit = (action: AfterCommit) => void actions.push(action);
  for (let from: unknown; ; ) {
    const context = contextFor(db, { ...choice, afterCommit });
    const prepared = typeof handler === "function" ? undefined : await handler.prepare(context, message, from);
    try {
      const response = await db.transaction((tx): Promise<unknown> => {
        const inside = { ...context, sql: tx };
        return typeof handler === "function" ? handler(inside, message) : handler.run(inside, message, prepared);
      });
      await runAfterCommit(actions);
      return toMessage(response as object) as Extract<O, Message>;
    } catch (error) {
      if (!(error instanceof PrepareAgain)) throw error;
      from = error.from;
    }
  }
}

/** Collects the events that modules record. */
export function recordedEvents() {
  const recorded: { tenantId: string; type: string; subject: string; data: Record<string, unknown> }[] = [];
  return {
    recorded,
    async record({ tenantId }: Context, type: string, subject: string, data: Record<string, unknown>): Promise<void> {
      recorded.push({ tenantId, type, subject, data });
    },
    async recordMany(_tx: unknown, entries: readonly (typeof recorded)[number][]): Promise<void> {
      recorded.push(...entries);
    },
    wake() {},
  };
}

/** For assert.rejects: an error of the catalogue with a matching message. */
export function failsWith(code: string, text: RegExp = /./) {
  return (error: unknown): boolean => error instanceof Failure && error.code === code && text.test(error.message);
}
