/** An outbound HTTP request. */
export interface EgressCall {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Time limit for the whole exchange, from the DNS lookup to the last byte of the response. */
  readonly timeoutMs: number;
  /** Time limit for connecting; 10 seconds by default. */
  readonly connectTimeoutMs?: number;
  /** Time limit from sending the request to the first byte of the response; `timeoutMs` by default. */
  readonly firstByteTimeoutMs?: number;
  /** Maximum size of the response body, also of a compressed one after decompression; 1 MiB by default. */
  readonly bytesMax?: number;
  /** Resolves as soon as the status is known, with an empty body, so that a broken body cannot turn success into failure. */
  readonly ignoreBody?: boolean;
  /** Speaks HTTP/2, for servers that accept nothing else. */
  readonly http2?: boolean;
  readonly signal?: AbortSignal;
}

/** The maximum size of a response body whose call says none. */
export const bytesMaxDefault = 1024 * 1024;

/** The response to an outbound request, decompressed. Redirects are not followed. */
export interface EgressResponse {
  readonly status: number;
  /** Headers by lower-case name; repeated headers are joined by a comma. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** An address that the policy allows. */
export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The only path for outbound connections. */
export interface Egress {
  /** Sends one HTTP request to an allowed host; every failure is an EgressError. */
  request(call: EgressCall): Promise<EgressResponse>;
  /** Resolves a host to a checked address, for other protocols such as SMTP. The caller must connect to exactly this address. */
  resolve(host: string): Promise<CheckedAddress>;
}

/** Why there was no response. */
export type EgressFailure =
  | "denied"
  | "invalid_url"
  | "dns_failed"
  | "connect_failed"
  | "tls_failed"
  | "timeout"
  | "too_large"
  | "cancelled"
  | "connection_lost";

/** The only error type of an exchange. Its message reveals nothing but the host. */
export class EgressError extends Error {
  readonly reason: EgressFailure;
  /** False when the request cannot have reached the receiver. */
  readonly mayHaveArrived: boolean;

  constructor(reason: EgressFailure, message: string, mayHaveArrived: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "EgressError";
    this.reason = reason;
    this.mayHaveArrived = mayHaveArrived;
  }
}
