/** A connection that could not be made, was lost or is closed. What `classify.ts` makes of it goes by its code. */
export class ConnectionError extends Error {
  readonly code:
    | "CONNECTION_CLOSED"
    | "CONNECTION_ENDED"
    | "CONNECT_TIMEOUT"
    | "CONNECTION_INSECURE"
    | "CONNECTION_QUEUE_FULL"
    | "CONNECTION_QUEUE_TIMEOUT";

  constructor(code: ConnectionError["code"], message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "ConnectionError";
    this.code = code;
  }
}

/** The loss of a connection, as whoever used it is told. */
export function connectionLost(cause?: unknown): ConnectionError {
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  return new ConnectionError("CONNECTION_CLOSED", `The connection to PostgreSQL was lost${reason}`, { cause });
}

/** The refusal of a server that does not meet the TLS mode of the database URL. */
export function connectionInsecure(advice: string, cause: Error): ConnectionError {
  const message = `The connection to PostgreSQL is not as secure as sslmode asks (${cause.message}). ${advice}`;
  return new ConnectionError("CONNECTION_INSECURE", message, { cause });
}

/** The refusal of statements that come after the end. */
export function connectionEnded(): ConnectionError {
  return new ConnectionError("CONNECTION_ENDED", "The connections to PostgreSQL are closed.");
}

/** The refusal of a caller when too many wait for a connection already. */
export function waitQueueFull(waitersMax: number): ConnectionError {
  return new ConnectionError("CONNECTION_QUEUE_FULL", `${waitersMax} callers wait for a connection to PostgreSQL.`);
}

/** The end of a wait in which no connection became free. */
export function waitedTooLong(waitMs: number): ConnectionError {
  return new ConnectionError(
    "CONNECTION_QUEUE_TIMEOUT",
    `No connection to PostgreSQL became free within ${waitMs} ms.`,
  );
}
