import { DatabaseError } from "pg";
import { type ErrorCode, Failure, fail } from "../../errors/index.ts";

/** The errors that callers see for PostgreSQL's SQLSTATE codes. */
const byState: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  "23503": ["FAILED_PRECONDITION", "A record that this one refers to does not exist."],
  "22021": ["INVALID_ARGUMENT", "The request contains text that cannot be stored, for example a NUL character."],
  "22P05": ["INVALID_ARGUMENT", "The request contains text that cannot be stored, for example a NUL character."],
  "40001": ["CONFLICT", "A concurrent change conflicts with this request: retry it."],
  "40P01": ["CONFLICT", "A concurrent change conflicts with this request: retry it."],
  "55P03": ["CONFLICT", "A concurrent change conflicts with this request: retry it."],
  "57014": ["TIMEOUT", "The database did not answer in time."],
  "53100": ["UNAVAILABLE", "The database has no disk space left."],
  "25006": ["UNAVAILABLE", "The database is read-only now."],
  "53300": ["UNAVAILABLE", "The database accepts no more connections."],
};

/** The errors that callers see for violated check constraints. */
const byConstraint: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  // A node can use a deleted pool for a second, until it knows of the change.
  queue_depths_closed: ["CONFLICT", "The pool was just deleted."],
};

/** Error codes of callers that got no connection. Nothing was sent for them. */
const busy = new Set(["CONNECTION_QUEUE_FULL", "CONNECTION_QUEUE_TIMEOUT"]);

const unreachable =
  /^(08|57P)|^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT)/;

/** Converts a database error to a failure; undefined for errors without a meaning for callers. */
export function classifyDatabaseError(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  const state = (error as { code?: unknown } | null)?.code;
  if (typeof state !== "string") return undefined;
  if (isUniqueViolation(error)) return taken(error as { detail?: unknown });
  const { constraint } = error as { constraint?: string };
  const known = byState[state] ?? (constraint === undefined ? undefined : byConstraint[constraint]);
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

/** Whether a statement failed because another row has the same unique key. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "23505";
}

/** Whether the database cannot be used now, but may be later with the same settings. */
export function isDatabaseAway(error: unknown): boolean {
  if (classifyDatabaseError(error)?.code !== "UNAVAILABLE") return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A missing file is not a missing socket.
  return (
    !["CONNECTION_INSECURE", "CONNECTION_UNSUITABLE"].includes(code!) && (code !== "ENOENT" || syscall === "connect")
  );
}

/** SQLSTATE codes after which the server may still have committed. */
const undecidedState = /^(08|57P|40003)/;
/** Error codes after which nothing was sent, because there was no connection. */
const unsent: ReadonlySet<unknown> = new Set([
  ...busy,
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/**
 * Whether work that failed with this error may still have been committed. Only an error response of the database, a failure
 * of this service, or a connection that was never opened rules it out. A lost connection does not.
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

/**
 * Names the duplicate field, but not its value: the caller may not be allowed to see the other record. The last column of a
 * unique index is the duplicate one. The columns before it say where it must be unique.
 */
function taken(error: { readonly detail?: unknown }): Failure {
  const columns = /^Key \((.+?)\)=/.exec(String(error.detail ?? ""))?.[1] ?? "";
  const fields = columns
    .split(", ")
    .map((column) => /(\w+)\)?(?:::\w+)?\)?$/.exec(column)?.[1] ?? "")
    .filter((field) => field !== "" && field !== "tenant_id");
  const field = fields.pop();
  if (field === undefined)
    return fail("ALREADY_EXISTS", { public: "Another record already has this value.", cause: error });
  const message = `is taken by another record${fields.length === 0 ? "" : ` with the same ${fields.join(" and ")}`}`;
  return fail("ALREADY_EXISTS", {
    public: `${field}: ${message}.`,
    violations: [{ field, rule: "unique", message }],
    cause: error,
  });
}
