import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../../../../config/index.ts";
import { type Check, checkFact, type Fact } from "../domain/case-result.ts";
import type { CaseDescription, SuiteDescription } from "../domain/suite.ts";
import type { SandboxClient } from "./client.ts";

/** Tools for a running case. */
export interface CaseContext extends SandboxClient {
  readonly config: Config;
  readonly signal: AbortSignal;
  /** A name that no other case of the run uses. */
  name(suffix?: string): string;
  /** Records a check. Names and expected values are texts of the case, never parts of responses. */
  expect(name: string, observed: Fact, expected: Fact): void;
  /** Returns a value without which the case cannot continue. If there is none, the check fails and the case ends. */
  need<T>(name: string, value: T | undefined): T;
  /** Reads until a value is right, and returns the last one when the time is over. */
  until<T>(read: () => Promise<T>, isRight: (value: T) => boolean): Promise<T>;
}

/** A case with the function that checks its guarantee. */
export interface ConformanceCase extends CaseDescription {
  /** The setting that turns the guarantee off, if one does. */
  readonly offBy?: (config: Config) => string | undefined;
  run(context: CaseContext): Promise<void>;
}

/** A suite of cases that can run. */
export type ConformanceSuite = SuiteDescription<ConformanceCase>;

type Needs = Pick<CaseDescription, "capabilities" | "dryRun">;

/** A case as it is written: it has the defaults of its suite unless it says otherwise. */
export type CaseSource = Omit<ConformanceCase, "id" | keyof Needs> & Partial<Needs>;

/** A suite as it is written, with its cases by their ids. */
export interface SuiteSource extends Omit<SuiteDescription, "cases"> {
  readonly defaults: Needs;
  readonly cases: Readonly<Record<string, CaseSource>>;
}

const untilMsMax = 10_000;
const pollMs = 25;

interface Dependencies {
  readonly client: SandboxClient;
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly caseId: string;
}

/** Creates the context of a case and the list of its checks. */
export function createCaseContext({ client, config, signal, caseId }: Dependencies): {
  context: CaseContext;
  checks: Check[];
} {
  const checks: Check[] = [];
  const context: CaseContext = {
    ...client,
    ...{ config, signal },
    name: (suffix = "") => `${caseId.replaceAll(/[^a-z0-9]+/g, "_")}${suffix === "" ? "" : `_${suffix}`}`,
    expect(name, observed, expected) {
      checks.push(checkFact(name, observed, expected));
    },
    need(name, value) {
      if (value !== undefined) return value;
      context.expect(name, false, true);
      throw new Error(`There is no value: ${name}.`);
    },
    async until(read, isRight) {
      const endMs = performance.now() + untilMsMax;
      for (;;) {
        const value = await read();
        if (isRight(value) || performance.now() > endMs) return value;
        await delay(pollMs, undefined, { signal });
      }
    },
  };
  return { context, checks };
}
