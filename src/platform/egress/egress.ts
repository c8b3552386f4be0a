/** A call to somewhere else. */
export interface EgressCall {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** How long the whole exchange may take, the look-up of the name and the last byte of the answer included. */
  readonly timeoutMs: number;
  /** How long it may take until the connection stands; 10 seconds unless told. */
  readonly connectTimeoutMs?: number;
  /** How long the other side may think before its answer begins; as long as the whole unless told. */
  readonly firstByteTimeoutMs?: number;
  /** The most bytes that the answer's body may have; 1 MiB unless told. */
  readonly bytesMax?: number;
  /** Answers as soon as the status is known, with an empty body: whatever follows cannot turn success into failure. */
  readonly ignoreBody?: boolean;
  readonly signal?: AbortSignal;
}

/** What came back. A redirect is an answer like any other. */
export interface EgressAnswer {
  readonly status: number;
  /** By lower-case name; repeated ones are joined by a comma. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** An address that may be connected to. */
export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The only way out. */
export interface Egress {
  /** Makes one HTTP exchange with a host that may be reached; anything but an answer is an EgressError. */
  request(call: EgressCall): Promise<EgressAnswer>;
  /** For raw protocols (SMTP): the checked address that a host resolves to; connect to exactly this. */
  resolve(host: string): Promise<CheckedAddress>;
}

/** Why there was no answer. */
export type EgressFault =
  | "denied"
  | "invalid_url"
  | "dns_failed"
  | "connect_failed"
  | "tls_failed"
  | "timeout"
  | "too_large"
  | "cancelled"
  | "connection_lost";

/** The only error of an exchange. Its message names no more than the host. */
export class EgressError extends Error {
  readonly reason: EgressFault;
  /** False when nothing can have reached the other side. */
  readonly mayHaveArrived: boolean;

  constructor(reason: EgressFault, message: string, mayHaveArrived: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "EgressError";
    this.reason = reason;
    this.mayHaveArrived = mayHaveArrived;
  }
}
