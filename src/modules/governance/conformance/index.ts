/**
 * Conformance: checks that this instance keeps its guarantees, by calling it as its callers do.
 *
 * Case: one guarantee with a stable id, and the function that checks it. Suite: the cases of one surface.
 * Run: an execution of a suite in the background, in a scratch tenant. Dry run: a run that changes nothing.
 * Report: what a run found, addressed by the hash of its content. Check: an expectation of a case with what was observed.
 */
import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../../definitions/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { CapabilitySource, EventRecorder } from "../../operations/index.ts";
import type { ScratchTenants } from "../../tenancy/index.ts";
import { createCaseRunner } from "./case-runner.ts";
import type { Build } from "./domain/report.ts";
import { conformanceHandlers } from "./handler.ts";
import { createConformanceMetrics } from "./metrics.ts";
import { reportStore } from "./report-store.ts";
import { createRunEnder } from "./run-end.ts";
import { executeRunJob } from "./run-executor.ts";
import type { SendRequest } from "./sandbox/index.ts";
import { createConformanceService } from "./service.ts";
import { conformanceSuites } from "./suites/index.ts";
import { conformanceSweepJob } from "./sweep-job.ts";

export type { ConformanceReport } from "./domain/report.ts";

export interface ConformanceParts extends PlatformServices {
  readonly events: EventRecorder;
  readonly scratchTenants: ScratchTenants;
  /** The capabilities of this instance. */
  readonly capabilities: readonly CapabilitySource[];
  /** Sends requests to this instance. */
  readonly send: SendRequest;
  readonly definitions: readonly Operation[];
  readonly version: string;
}

export function createConformance(parts: ConformanceParts) {
  const { config, jobs } = parts;
  const suites = new Map(conformanceSuites.map((suite) => [suite.id, suite]));
  const metrics = createConformanceMetrics(parts.metrics);
  const ender = createRunEnder({ ...parts, metrics });
  const service = createConformanceService({
    ...parts,
    ...{ suites, ender, wakeJobs: () => jobs.wake() },
    timeoutS: config["conformance.run_timeout_s"],
    openRunsMax: config["conformance.max_open_runs_per_tenant"],
  });
  const runCases = createCaseRunner({ ...parts, findCapabilityOff: createCapabilityCheck(parts.capabilities) });
  const runningMax = config["conformance.max_running_runs"];
  return {
    handlers: conformanceHandlers({ ...parts, service, suites }),
    endWaits: service.endWaits,
    /** Finds a report, with whether it is the newest one of its suite in its environment. */
    async findReport(sql: Sql, tenantId: TenantId, environmentId: string, id: string) {
      const report = await reportStore(sql).find(tenantId, environmentId, id);
      if (report === undefined) return undefined;
      const newest = await reportStore(sql).findLatest(tenantId, environmentId, report.suiteId);
      return { ...report, isNewest: newest?.id === id };
    },
    jobs: [
      executeRunJob({ ...parts, suites, runCases, ender, runningMax, build: createBuildReader(parts) }),
      conformanceSweepJob({ ...parts, ender, retentionDays: config["conformance.retention_days"] }),
    ],
  };
}

/** Creates a function that finds the first of some capabilities that is off. A degraded one works. */
function createCapabilityCheck(capabilities: readonly CapabilitySource[]) {
  const sources = new Map(capabilities.map((source) => [source.id, source]));
  return async (ids: readonly string[]): Promise<string | undefined> => {
    const modes = await Promise.all(ids.map(async (id) => (await sources.get(id)?.mode())?.mode));
    return ids.find((_, index) => modes[index] !== "active" && modes[index] !== "degraded");
  };
}

/** Creates a function that describes this build. The digest is computed once, when it is first needed. */
function createBuildReader({ version, definitions }: Pick<ConformanceParts, "version" | "definitions">): () => Build {
  let build: Build | undefined;
  return () => {
    build ??= { version, definitionsDigest: digestOf(definitions) };
    return build;
  };
}

/** The SHA-256 of the files that define the operations, in the order of their names. */
function digestOf(definitions: readonly Operation[]): string {
  const files = new Map(definitions.map(({ service: { file } }) => [file.name, file.proto]));
  const sha256 = createHash("sha256");
  for (const name of [...files.keys()].sort()) sha256.update(toBinary(FileDescriptorProtoSchema, files.get(name)!));
  return sha256.digest("hex");
}
