import type { PollWorkflowTasksRequest } from "../../../../../gen/service/api/workflow_task_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import { invalid } from "../../../../errors/index.ts";
import { productionKey } from "../../../../platform/access/index.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import type { Environments } from "../../environments/index.ts";
import { type Capability, createMatcher, isVersion, type Matcher, matcherName } from "../domain/capabilities.ts";
import type { WorkerRegistry } from "../workers/worker-registry.ts";
import type { PollRequest } from "./poll-request.ts";

/** Converts requests of workers. */
export type PollReader = ReturnType<typeof createPollReader>;

interface Dependencies {
  readonly environments: Environments;
  readonly workers: Pick<WorkerRegistry, "report">;
}

const matchersMax = 10_000;
const protocolDefault = 1;

/** Creates the reader. Workers repeat their capabilities with every poll, so matchers are shared. */
export function createPollReader({ environments, workers }: Dependencies) {
  const matchers = new BoundedCache<string, Matcher>(matchersMax);

  function matcherOf(buildId: string, capabilities: readonly Capability[], path: string): Matcher {
    return matchers.getOrCreate(matcherName(buildId, capabilities), () => {
      checkVersions(capabilities, path);
      return createMatcher(buildId, capabilities);
    });
  }

  return {
    /** Reads a request, and records its worker. `path` is where the request is in its message. */
    async read(context: Context, request: PollWorkflowTasksRequest, path = ""): Promise<PollRequest> {
      const { tenantId, signal } = context;
      const { queue, workerId, buildId, slots, waitS, stickyRuns, protocol } = request;
      const capabilities = request.capabilities.map(({ type, versions }) => ({ type, versions }));
      const matcher = matcherOf(buildId, capabilities, path);
      const { id: environmentId, key } = await environments.require(context, request.environmentId);
      workers.report({
        ...{ tenantId, environmentId, queue, workerId, buildId, capabilities },
        protocol: protocol === 0 ? protocolDefault : protocol,
        waitMs: waitS * 1000,
      });
      return {
        ...{ tenantId, environmentId, queue, workerId, matcher, stickyRuns, signal },
        inProduction: key === productionKey,
        slots: Math.max(1, slots),
        waitMs: waitS * 1000,
        recheckAccess: () => context.recheckAccess(),
        onWaited: (ms) => context.waited(ms),
      };
    },
  };
}

function checkVersions(capabilities: readonly Capability[], path: string): void {
  for (const [i, { versions }] of capabilities.entries()) {
    const at = versions.findIndex((version) => !isVersion(version));
    if (at >= 0) {
      throw invalid(
        `${path}capabilities[${i}].versions[${at}]`,
        "version",
        "must be a semantic version of three numbers (for example: 2.1.0)",
      );
    }
  }
}
