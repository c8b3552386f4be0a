import type { Config } from "../../config/index.ts";
import type { Readiness } from "../../gateway/health.ts";
import type { AuditEntry } from "../../platform/audit/index.ts";
import type { ProcessPlace } from "../../platform/process-share/process-share.ts";
import type { MetricFamily } from "../../platform/telemetry/index.ts";
import type { AdminAccess } from "../bootstrap.ts";
import type { ListenResult } from "./shared-listeners.ts";

/** What a process is to serve. */
export interface Assignment {
  readonly place: ProcessPlace;
  /** The settings of the machine. */
  readonly config: Config;
  /** The database that the supervisor started; empty for the one of the settings. */
  readonly databaseUrl: string;
  /** Whether it creates what exists once: keys, the first tenant, the links of the operator. */
  readonly isFirst: boolean;
  readonly hasAudit: boolean;
}

/** What the start of a process tells the operator. */
export interface StartReport {
  readonly baseUrl: string;
  readonly admin: AdminAccess | undefined;
  readonly loginLink: string | undefined;
  readonly approverLink: string | undefined;
}

/** How a node stops. With `handover`, other processes of the machine go on to serve its addresses. */
export type StopMode = "now" | "drain" | "handover";

/** The calls that a process makes to its supervisor. */
export type SupervisorCalls = {
  assignment(): Assignment;
  serving(report: StartReport): void;
  audit(entry: { readonly entry: AuditEntry; readonly time: string }): Promise<void>;
  /** The metrics of all processes, as a text. */
  metrics(): Promise<string>;
  /** The readiness of the machine. */
  readiness(): Promise<Readiness>;
  /** Binds a listener of the machine, or finds it bound. */
  listen(request: { readonly name: string; readonly host: string; readonly port: number }): Promise<ListenResult>;
  /** Ends the handover of connections. The result arrives after the last one. */
  stopAccepting(): void;
  /** Reports the last counts before an end. */
  ended(families: readonly MetricFamily[]): void;
};

/** The calls that a supervisor makes to a process. */
export type ProcessCalls = {
  /** A link that signs a browser in as a second person of a tenant, once. */
  linkApprover(tenantId: string): Promise<string>;
  metrics(): Promise<readonly MetricFamily[]>;
  readiness(): Promise<Readiness>;
  stop(mode: StopMode): void;
};
