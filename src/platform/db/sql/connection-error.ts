/** A connection that could not be opened, was lost or is closed. `classify.ts` classifies it by its code. */
export class ConnectionError extends Error {
  readonly code:
    | "CONNECTION_CLOSED"
    | "CONNECTION_ENDED"
    | "CONNECT_TIMEOUT"
    | "CONNECTION_INSECURE"
    | "CONNECTION_UNSUITABLE"
    | "CONNECTION_QUEUE_FULL"
    | "CONNECTION_QUEUE_TIMEOUT";

  constructor(code: ConnectionError["code"], message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "ConnectionError";
    this.code = code;
  }
}

/** The error of statements whose connection was lost. */
export function connectionLost(cause?: unknown): ConnectionError {
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  return new ConnectionError("CONNECTION_CLOSED", `The connection to PostgreSQL was lost${reason}`, { cause });
}

/** The error of a commit that may be lost at a failover, because the wait for its synchronous replication was cancelled. */
export function commitUnreplicated(): ConnectionError {
  return new ConnectionError(
    "CONNECTION_CLOSED",
    "The wait for the synchronous replication of a commit was cancelled: the commit may not survive a failover.",
  );
}

/** The error for a server that does not meet the TLS mode of the database URL. */
export function connectionInsecure(advice: string, cause: Error): ConnectionError {
  const message = `The connection to PostgreSQL is not as secure as sslmode asks (${cause.message}). ${advice}`;
  return new ConnectionError("CONNECTION_INSECURE", message, { cause });
}

/** The error for a server, or a pooler before it, that does not keep what the service needs of its connections. */
export function connectionUnsuitable(message: string, cause?: unknown): ConnectionError {
  return new ConnectionError("CONNECTION_UNSUITABLE", message, { cause });
}

/** The error for a server that did not answer in time. */
export function connectTimeout(cause?: unknown): ConnectionError {
  return new ConnectionError("CONNECT_TIMEOUT", "PostgreSQL did not answer in time.", { cause });
}

/** The error of statements after the pool was closed. */
export function connectionEnded(): ConnectionError {
  return new ConnectionError("CONNECTION_ENDED", "The connections to PostgreSQL are closed.");
}

/** The error of a caller when too many callers wait for a connection. */
export function waitQueueFull(waitersMax: number): ConnectionError {
  return new ConnectionError("CONNECTION_QUEUE_FULL", `${waitersMax} callers wait for a connection to PostgreSQL.`);
}

/** The error of a caller for which no connection became free in time. */
export function waitTimedOut(waitMs: number): ConnectionError {
  return new ConnectionError(
    "CONNECTION_QUEUE_TIMEOUT",
    `No connection to PostgreSQL became free within ${waitMs} ms.`,
  );
}
