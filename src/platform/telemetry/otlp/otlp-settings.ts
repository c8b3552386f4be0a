/** What can be sent to a collector. */
export type OtlpSignal = "traces" | "metrics" | "logs";

/** Where telemetry is sent, and from whom. */
export interface OtlpSettings {
  /** An OTLP/HTTP collector such as `http://host:4318`. The path of a signal, such as `/v1/traces`, is added. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** More attributes of the sender. */
  readonly resource?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The fraction of new traces that is sampled, 0 to 1. A caller's sampling decision takes precedence. */
  readonly sampleRatio?: number;
  /** Receives the error of each failed export. */
  readonly onError?: (error: Error, signal: OtlpSignal) => void;
}
