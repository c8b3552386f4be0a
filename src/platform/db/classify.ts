import { DatabaseError } from "pg";
import { type ErrorCode, Failure, fail } from "../../errors/index.ts";

/** What PostgreSQL's states mean to a caller. */
const byState: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  "23503": ["FAILED_PRECONDITION", "A record that this one refers to does not exist."],
  "22021": ["INVALID_ARGUMENT", "The request holds text that cannot be stored."],
  "22P05": ["INVALID_ARGUMENT", "The request holds text that cannot be stored."],
  "40001": ["CONFLICT", "A concurrent change got in the way."],
  "40P01": ["CONFLICT", "A concurrent change got in the way."],
  "55P03": ["CONFLICT", "A concurrent change got in the way."],
  "57014": ["TIMEOUT", "The database did not answer in time."],
  "53100": ["UNAVAILABLE", "The database has no disk space left."],
  "25006": ["UNAVAILABLE", "The database takes no changes now."],
  "53300": ["UNAVAILABLE", "The database takes no more connections."],
};

/** The codes of callers who got no connection: nothing of theirs was sent. */
const busy = new Set(["CONNECTION_QUEUE_FULL", "CONNECTION_QUEUE_TIMEOUT"]);

const unreachable =
  /^(08|57P)|^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT)/;

/** Turns a database error into a failure; undefined for anything that is not one with a meaning to callers. */
export function classifyDatabaseError(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  const state = (error as { code?: unknown } | null)?.code;
  if (typeof state !== "string") return undefined;
  if (state === "23505") return taken(error as { detail?: unknown });
  const known = byState[state];
  if (known !== undefined) return fail(known[0], { public: known[1], cause: error });
  if (unreachable.test(state)) {
    return fail("UNAVAILABLE", {
      public: busy.has(state) ? "Too many calls wait for the database." : "The database cannot be reached.",
      cause: error,
      headers: { "retry-after": "1" },
    });
  }
  return undefined;
}

/** The states of errors after which the server may have committed all the same. */
const undecidedState = /^(08|57P|40003)/;
/** Errors of callers who got no connection, so that nothing was sent. */
const unsent: ReadonlySet<unknown> = new Set([
  ...busy,
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/**
 * Whether work that ended with this error may have been committed nevertheless. Only an answer of the database, a refusal of
 * our own, or a connection that was never made rules it out: a lost connection says nothing about the commit.
 */
export function mayBeCommitted(error: unknown): boolean {
  if (error instanceof Failure) return error.cause !== undefined && mayBeCommitted(error.cause);
  if (error instanceof DatabaseError) return undecidedState.test(error.code ?? "08");
  return !unsent.has((error as { code?: unknown } | null)?.code);
}

/** Whether a statement failed because of its own data, so that other rows of the batch may still succeed. */
export function isDataError(error: unknown): boolean {
  const state = (error as { code?: unknown } | null)?.code;
  return typeof state === "string" && /^(22|23)/.test(state);
}

/** Names the fields whose values another record has; never the values, which may be of a record that nobody may see. */
function taken(error: { readonly detail?: unknown }): Failure {
  const columns = /^Key \((.+?)\)=/.exec(String(error.detail ?? ""))?.[1] ?? "";
  const fields = columns
    .split(", ")
    .map((column) => /(\w+)\)?(?:::\w+)?\)?$/.exec(column)?.[1] ?? "")
    .filter((field) => field !== "" && field !== "tenant_id");
  return fail("ALREADY_EXISTS", {
    public:
      fields.length === 0
        ? "Another record already has this value."
        : `${fields.join(", ")}: is taken by another record.`,
    violations: fields.map((field) => ({ field, rule: "unique", message: "is taken by another record" })),
    cause: error,
  });
}
