import { type EventLoopScheduler, runInSlices } from "../../../../platform/event-loop/index.ts";
import type { SimulationReport } from "../../../promotable-artifacts.ts";
import type { SimulateRuns } from "../../definitions/index.ts";
import type { Plan } from "../domain/engine/plan.ts";
import type { PlanCache } from "../plan-cache.ts";
import { runVariable } from "../run-engine.ts";
import { simulateRun } from "../simulation/simulated-run.ts";
import type { Simulation } from "../simulation/simulation.ts";
import { type Difference, findFirstDifference } from "./first-difference.ts";
import { type RecordedRun, readRecordedRuns } from "./recorded-run-store.ts";
import { scriptOf } from "./recorded-script.ts";

interface Dependencies {
  readonly plans: PlanCache;
  readonly shares: EventLoopScheduler;
}

const runsMax = 5000;
const shownMax = 50;
const examplesMax = 20;

/**
 * Plans recorded runs again, with the active version and with another one. Each step gets the result that it had, each wait its event,
 * each approval its decisions; the paths are compared up to their first difference. Nothing is started or sent.
 */
export function createRunSimulator({ plans, shares }: Dependencies): SimulateRuns {
  return async (context, { live, ...query }) => {
    const { sql, tenantId, signal } = context;
    const versions = [
      await plans.get(tenantId, query.targetId, live),
      await plans.get(tenantId, query.targetId, query.version),
    ];
    const [before, after] = versions as [Plan, Plan];
    const slices = shares.forCall(tenantId);
    const itemsMax = Math.min(query.itemsMax, runsMax);
    const tally = new RunTally();
    for await (const page of readRecordedRuns(sql, tenantId, { ...query, itemsMax })) {
      for (const run of page) {
        if (run.advances === null) {
          tally.isCut = true;
          continue;
        }
        const script = scriptOf(run, versions);
        const simulate = (plan: Plan) => {
          const variable = runVariable({ ...run, version: plan.version }, plan, run.createdAt.getTime());
          return runInSlices(simulateRun(plan, { ...script, run: variable }), slices, signal);
        };
        tally.add(run, [await simulate(before), before], [await simulate(after), after]);
      }
    }
    return tally.report(itemsMax);
  };
}

/** Counts the differences of runs. */
class RunTally {
  /** Whether runs were left out. */
  isCut = false;
  #items = 0;
  #reproduced = 0;
  #first: RecordedRun | undefined;
  #last: RecordedRun | undefined;
  readonly #steps = new Map<string, Difference & { items: number }>();
  readonly #causes = new Map<string, number>();
  readonly #outcomes = new Map<string, { before: string; after: string; items: number }>();
  readonly #examples: { id: string; before: string; after: string; cause: string }[] = [];

  add(run: RecordedRun, before: readonly [Simulation, Plan], after: readonly [Simulation, Plan]): void {
    this.#items++;
    this.#first = run;
    this.#last ??= run;
    const [[was], [is]] = [before, after];
    if (was.status === run.status && was.stepsWithoutStub.length === 0) this.#reproduced++;
    const difference = findFirstDifference(before, after);
    if (difference === undefined) return;
    const { change, step } = difference;
    const name = `${change} ${step.replace(/\[.*/, "")}`;
    const known = this.#steps.get(name);
    if (known !== undefined) known.items++;
    else this.#steps.set(name, { change, step: step.replace(/\[.*/, ""), items: 1 });
    this.#causes.set(change, (this.#causes.get(change) ?? 0) + 1);
    if (this.#examples.length < examplesMax) {
      this.#examples.push({ id: run.id, before: labelOf(was), after: labelOf(is), cause: `${change} ${step}`.trim() });
    }
    if (was.status === is.status) return;
    const pair = this.#outcomes.get(`${was.status} ${is.status}`);
    if (pair !== undefined) pair.items++;
    else this.#outcomes.set(`${was.status} ${is.status}`, { before: was.status, after: is.status, items: 1 });
  }

  report(itemsMax: number): SimulationReport {
    const causes = [...this.#causes].map(([cause, items]) => ({ cause, items }));
    return {
      items: this.#items,
      changed: causes.reduce((sum, { items }) => sum + items, 0),
      reproduced: this.#reproduced,
      firstAt: this.#first?.createdAt,
      lastAt: this.#last?.createdAt,
      isCut: this.isCut || this.#items === itemsMax,
      causes: causes.sort(byItems),
      steps: [...this.#steps.values()].sort(byItems).slice(0, shownMax),
      outcomes: [...this.#outcomes.values()].sort(byItems),
      examples: this.#examples,
    };
  }
}

const byItems = (one: { readonly items: number }, other: { readonly items: number }) => other.items - one.items;

/** How a simulated run ends, with the code of its error. */
function labelOf({ status, error }: Simulation): string {
  return error === undefined ? status : `${status} (${error.code})`;
}
