import { fail, invalid } from "../../../errors/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import { checkValue } from "../../../platform/json-schema/index.ts";
import { nearestName } from "../../../platform/text/index.ts";
import { checkInput } from "./domain/check-input.ts";
import type { Action } from "./domain/language/action.ts";
import type { AuthMode } from "./domain/language/auth/modes.ts";
import type { FieldSpec } from "./domain/language/fields.ts";
import type { AccountValues, Provider } from "./domain/provider.ts";
import { renderRequest } from "./domain/request/render-request.ts";
import type { HttpRequest } from "./domain/request-spec.ts";
import { readResponse } from "./domain/response/read-response.ts";
import type { ActionAnswer, PageState } from "./domain/response-spec.ts";

/** An action to try, with the answers that its provider gave. */
export interface Trial {
  readonly action: string;
  readonly input: JsonObject;
  /** Empty for the first mode of the manifest. */
  readonly authMode: string;
  readonly account: Pick<AccountValues, "settings" | "credentials" | "captured">;
  readonly answers: readonly {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }[];
}

/** A request, and what its answer means. */
interface TrialStep {
  readonly request: HttpRequest;
  /** Undefined without an answer. */
  readonly answer: ActionAnswer | undefined;
}

/** What a manifest makes of the answers. */
export interface TrialResult {
  readonly steps: readonly TrialStep[];
  /** Undefined if the last answer is no success. */
  readonly output: Json | undefined;
  /** Where the output does not fit its schema. */
  readonly outputProblems: readonly string[];
  readonly hasMorePages: boolean;
}

/** Renders the requests of an action and reads recorded answers, as an execution does with those of the provider. */
export function tryManifest(provider: Provider, trial: Trial, nowMs: number): TrialResult {
  const action = requireAction(provider, trial.action);
  const [violation] = checkInput(action, trial.input);
  if (violation !== undefined) throw invalid(violation.field, violation.rule, violation.message);
  const { mutation, paginate } = action;
  const values = { input: trial.input, account: accountOf(provider, trial), idempotencyKey: "example-key", nowMs };
  const steps: TrialStep[] = [];
  let page: PageState | undefined;
  // Without answers, the first request is shown.
  for (const recorded of trial.answers.length === 0 ? [undefined] : trial.answers) {
    const request = renderRequest(provider, action.request!, values, { mutation, paginate, page });
    if ("fault" in request) {
      throw fail("INVALID_ARGUMENT", { public: `The request cannot be built: ${request.place} ${request.message}.` });
    }
    const answer = recorded && readResponse(provider, action, toAnswer(recorded), { nowMs, page });
    steps.push({ request, answer });
    if (answer?.class !== "ok" || answer.nextPage === undefined) break;
    page = answer.nextPage;
  }
  const last = steps.at(-1)!.answer;
  if (last?.class !== "ok") return { steps, output: undefined, outputProblems: [], hasMorePages: false };
  const { output, nextPage, truncated = false } = last;
  const problems = action.outputSchema === undefined ? [] : checkValue(action.outputSchema, output, "output");
  const outputProblems = problems.map(({ path, message }) => `${path} ${message}`);
  return { steps, output, outputProblems, hasMorePages: truncated || nextPage !== undefined };
}

function requireAction({ actions }: Provider, name: string): Action {
  const action = actions.get(name);
  if (action === undefined) {
    const near = nearestName(name, [...actions.keys()]);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    throw invalid("action", "reference", `must be the name of an action of the manifest${hint}`);
  }
  if (action.request === undefined) throw invalid("action", "reference", "must be an action that can be executed");
  return action;
}

/** The account of a trial: what the caller gave, and examples of everything else. */
function accountOf(provider: Provider, { authMode, account }: Trial): AccountValues {
  const mode = (authMode || provider.authModes[0]) as AuthMode;
  const auth = provider.auth(mode);
  if (auth === undefined) {
    throw invalid("auth_mode", "choice", `must be a mode of the manifest: ${provider.authModes.join(", ")}`);
  }
  return {
    ...{ mode, captured: account.captured, account: { id: "example-account", label: "Example" } },
    settings: { ...examplesOf(provider.settings), ...account.settings },
    credentials: {
      ...examplesOf(auth.fields),
      ...("token" in auth && { access_token: "access_token" }),
      ...account.credentials,
    },
    config: { client_id: "client_id", client_secret: "client_secret" },
  };
}

function examplesOf(fields: readonly FieldSpec[]): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field.name, field.default || field.example || field.name]));
}

function toAnswer({ status, headers, body }: Trial["answers"][number]) {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { status, headers: Object.fromEntries(named), body: Buffer.from(body) };
}
