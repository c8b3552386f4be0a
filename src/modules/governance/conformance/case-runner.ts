import type { Config } from "../../../config/index.ts";
import type { PlatformServices } from "../../area.ts";
import { type CaseResult, decide, knownCode, limitCodes, undecided } from "./domain/case-result.ts";
import type { RunMode } from "./domain/run.ts";
import {
  type ConformanceCase,
  createCaseContext,
  createSandboxClient,
  type SandboxKeys,
  type SendRequest,
  UnexpectedReply,
} from "./sandbox/index.ts";

export interface CaseRunnerParts extends Pick<PlatformServices, "config" | "log"> {
  readonly send: SendRequest;
  /** Which of these capabilities is off; undefined if none is. */
  readonly findCapabilityOff: (ids: readonly string[]) => Promise<string | undefined>;
}

/** The run that cases belong to. */
export interface CaseRun {
  readonly mode: RunMode;
  readonly keys: SandboxKeys;
  /** Aborted when the run is cancelled or its deadline passes. */
  readonly signal: AbortSignal;
}

/** The longest time that a case may take. */
const caseMsMax = 30_000;
/** How many cases of a run are in progress at once. Most of them wait most of the time. */
const concurrentCases = 3;

/** Runs cases and returns their results. */
export type CaseRunner = ReturnType<typeof createCaseRunner>;

export function createCaseRunner({ config, log, send, findCapabilityOff }: CaseRunnerParts) {
  const host = ownHost(config);

  async function runCase(each: ConformanceCase, { mode, keys, signal }: CaseRun): Promise<CaseResult> {
    const off = await findCapabilityOff(["api_keys", ...each.capabilities]);
    if (off !== undefined) return undecided(each.id, "capability_off", off);
    const setting = each.offBy?.(config);
    if (setting !== undefined) return undecided(each.id, "setting_off", setting);
    if (mode === "dry_run" && !each.dryRun) return undecided(each.id, "needs_sandbox", "");
    const timeout = AbortSignal.timeout(caseMsMax);
    const limited = AbortSignal.any([signal, timeout]);
    const client = createSandboxClient({ send, host, keys, signal: limited });
    const { context, checks } = createCaseContext({ client, config, signal: limited, caseId: each.id });
    try {
      await each.run(context);
      return decide(each.id, checks);
    } catch (error) {
      signal.throwIfAborted();
      // After a failed check, later errors add no information.
      if (checks.some(({ passed }) => !passed)) return decide(each.id, checks);
      if (timeout.aborted) return undecided(each.id, "timed_out", "", checks);
      log.warn({ err: error, case: each.id }, "a conformance case could not be decided");
      const code = error instanceof UnexpectedReply ? knownCode(error.code) : "INTERNAL";
      return undecided(each.id, limitCodes.has(code) ? "refused" : "unexpected_error", code, checks);
    }
  }

  /** Runs cases and reports each result. Rejects when the run is aborted. */
  return async (
    cases: readonly ConformanceCase[],
    run: CaseRun,
    onResult: (result: CaseResult) => Promise<void>,
  ): Promise<void> => {
    const rest = [...cases];
    const work = async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        run.signal.throwIfAborted();
        await onResult(await runCase(next, run));
      }
    };
    await Promise.all(Array.from({ length: concurrentCases }, work));
  };
}

/** A Host that the instance accepts. */
function ownHost(config: Config): string {
  const [first = "localhost"] = config["api.allowed_hosts"];
  return first === "*" ? "localhost" : first;
}
