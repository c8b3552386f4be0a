import type { Context } from "../../../../chain/call.ts";
import { fail, invalid, type Violation } from "../../../../errors/index.ts";
import type { DocumentViolation } from "../../../../platform/document/index.ts";
import { runInSlices, type TimeSlices } from "../../../../platform/event-loop/index.ts";
import { toViolationFailure } from "../../../../platform/protojson/index.ts";
import { nearestName } from "../../../../platform/text/index.ts";
import {
  checkInSlices,
  type Definition,
  type Definitions,
  defaultRetry,
  type Json,
  type JsonObject,
  parseDefinition,
} from "../../definitions/index.ts";
import type { Environments } from "../../environments/index.ts";
import { createPlan, type Plan } from "../domain/engine/plan.ts";
import { runVariable } from "../run-engine.ts";
import { checkRunInput } from "../start/run-input.ts";
import { simulateRun } from "./simulated-run.ts";
import type { Simulation, SimulationScript } from "./simulation.ts";

/** A run to simulate. */
export interface SimulationRequest extends Omit<SimulationScript, "run" | "startedAtMs"> {
  /** The key or the id of a published definition; empty with a document. */
  readonly definition: string;
  readonly version: number | undefined;
  readonly document: JsonObject | undefined;
  readonly environmentId: string;
}

interface Dependencies {
  readonly definitions: Pick<Definitions, "resolve">;
  readonly environments: Environments;
}

export type SimulateRun = (context: Context, request: SimulationRequest, slices: TimeSlices) => Promise<Simulation>;

const inputBytesMax = 128 * 1024;
const simulatedRunId = "simulated";

/** Creates the simulation of runs. It reads definitions and stores nothing. */
export function createSimulation({ definitions, environments }: Dependencies): SimulateRun {
  async function planOf(context: Context, request: SimulationRequest, slices: TimeSlices): Promise<[Plan, Definition]> {
    const { definition: idOrKey, version, document } = request;
    if ((idOrKey === "") === (document === undefined)) {
      throw invalid("definition", "required", "or document must be set, and not both");
    }
    if (document !== undefined) {
      const definition = await parse(document, slices);
      return [createPlan(definition, "", 0, defaultRetry), definition];
    }
    const published = await definitions.resolve(context.tenantId, idOrKey, version);
    if (published === undefined) {
      throw fail("NOT_FOUND", {
        public: `There is no published workflow definition "${idOrKey}"${version === undefined ? "" : ` with the version ${version}`}. Simulate its document instead.`,
      });
    }
    const { definition, definitionId } = published;
    return [createPlan(definition, definitionId, published.version, defaultRetry), definition];
  }

  return async (context, request, slices) => {
    const environment = await environments.require(context, request.environmentId);
    const [plan, definition] = await planOf(context, request, slices);
    checkInput(definition, request.input);
    await runInSlices(checkNames(plan, request), slices, context.signal);
    const origin = {
      environment: environment.key,
      definition: plan.key,
      by: context.principal.subject,
      via: "api",
    } as const;
    const run = runVariable({ id: simulatedRunId, runKey: "", version: plan.version, origin }, plan, context.nowMs);
    const work = simulateRun(plan, { ...request, run, startedAtMs: context.nowMs });
    return runInSlices(work, slices, context.signal);
  };
}

/** Reads and checks a document, except for the records that it refers to. */
async function parse(document: JsonObject, slices: TimeSlices): Promise<Definition> {
  const { definition, violations } = parseDefinition(document);
  if (definition === undefined) throw documentFailure(violations);
  const problems = await runInSlices(checkInSlices(definition, undefined), slices);
  if (problems.length > 0) throw documentFailure(problems);
  return definition;
}

function documentFailure(violations: readonly DocumentViolation[]) {
  return toViolationFailure(
    violations.map(({ path, rule, message, position }): Violation => {
      const place = position === undefined ? "" : `line ${position.line}, column ${position.column}: `;
      return { field: path === "" ? "document" : `document.${path}`, rule, message: `${place}${message}` };
    }),
  );
}

function checkInput(definition: Definition, input: Json): void {
  if (JSON.stringify(input).length > inputBytesMax) {
    throw invalid("input", "max_bytes", "must be at most 128 KiB as JSON");
  }
  const refusal = checkRunInput(definition, input);
  if (refusal !== undefined) throw invalid("input", "schema", refusal);
}

const stubbedKinds: readonly string[] = [
  ...["task", "route", "notify", "action", "experiment", "subworkflow", "stream_append", "stream_read"],
];

/** A request with more unknown names is not checked further. */
const violationsMax = 100;

/** Refuses stubs and decisions for steps that cannot use them, which are mostly typing errors. Yields after each name. */
export function* checkNames(
  { steps }: Pick<Plan, "steps">,
  { stubs, decisions }: Pick<SimulationRequest, "stubs" | "decisions">,
): Generator<void, void> {
  const stubbed = [...steps.values()].flatMap(({ id, work, compensate }) => [
    ...(stubbedKinds.includes(work.kind) ? [id] : []),
    ...(compensate === undefined ? [] : [`~${id}`]),
  ]);
  const approvals = [...steps.values()].filter(({ work }) => work.kind === "approval").map(({ id }) => id);
  const violations: Violation[] = [];
  for (const { field, name, what, known } of [
    ...[...stubs.keys()].map((name) => ({ field: `stubs.${name}`, name, what: stubbedWork, known: stubbed })),
    ...decisions.map(({ step }, nth) => ({
      ...{ field: `decisions[${nth}].step`, name: step, what: "approval step", known: approvals },
    })),
  ]) {
    const id = name.replace(/\[[0-9,]*\]$/, "");
    if (!known.includes(id)) violations.push(unknownName(field, id, known, what));
    if (violations.length === violationsMax) break;
    yield;
  }
  if (violations.length > 0) throw toViolationFailure(violations);
}

const stubbedWork = "task, route, notify, action, experiment, subworkflow or stream step or compensation";

function unknownName(field: string, id: string, known: readonly string[], what: string): Violation {
  const near = nearestName(id, known);
  const hint = near === undefined ? "" : `: did you mean ${near}?`;
  return { field, rule: "unknown_step", message: `the definition has no ${what} "${id}"${hint}` };
}
