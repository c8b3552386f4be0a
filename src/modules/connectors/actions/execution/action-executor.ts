import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Json } from "../../../../platform/document/index.ts";
import { storableText } from "../../../../platform/text/index.ts";
import type { Connections, OpenConnection } from "../../connections/index.ts";
import type { GuardedHttp, HttpRequest, PageState, Redactor } from "../../manifests/index.ts";
import type { ActionMetrics } from "../action-metrics.ts";
import { type Attempt, type ExecutionOutcome, safetyOf } from "../domain/execution.ts";
import { endStatus, nextStep } from "../domain/next-step.ts";
import { type Refusal, readAnswer, readFault, type Success } from "./answer-reader.ts";
import { accountOf, type PreparedAction, renderPage } from "./prepared-action.ts";
import { limitScope, type RateLimits } from "./rate-limits.ts";
import { authorizationRedactorOf, redactorOf } from "./secret-redactor.ts";

interface Dependencies {
  readonly clock: Clock;
  readonly http: GuardedHttp;
  readonly connections: Pick<Connections, "open" | "markRejected">;
  readonly rateLimits: RateLimits;
  readonly metrics: ActionMetrics;
  /** Returns a number from 0 to 1 that spreads retries. */
  readonly random: () => number;
}

/** Executes a prepared action at its provider. It stores nothing. */
export type ActionExecutor = (
  prepared: PreparedAction,
  request: HttpRequest,
  deadlineMs: number,
  signal?: AbortSignal,
) => Promise<ExecutionOutcome>;

const attemptsKept = 100;
/** How long a connection is blocked by an answer that says no time. */
const blockMsDefault = 1000;
/** The size limit of all pages of a list together. */
const pagesBytesMax = 16 * 1024 * 1024;
const answerMsMin = 50;

/** Creates the executor of this node. */
export function createActionExecutor(dependencies: Dependencies): ActionExecutor {
  return (prepared, request, deadlineMs, signal) =>
    new ActionExecution(dependencies, prepared, deadlineMs, signal).run(request);
}

/** One execution in progress. */
class ActionExecution {
  readonly #dependencies: Dependencies;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #scope: string;
  readonly #attempts: Attempt[] = [];
  /** The requested pages. */
  readonly #pages = new Set<string>();
  #prepared: PreparedAction;
  #redactors: readonly Redactor[];
  #page: PageState | undefined;
  /** The requests for the current page. */
  #attempt = 0;
  #sent = 0;
  #isRenewed: boolean;
  #mayHaveTakenEffect = false;
  #bytes = 0;

  constructor(
    dependencies: Dependencies,
    prepared: PreparedAction,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#dependencies = dependencies;
    this.#prepared = prepared;
    this.#deadlineMs = deadlineMs;
    this.#signal = signal;
    this.#scope = limitScope(prepared.connection?.id ?? "", prepared.provider.key);
    this.#redactors = [redactorOf(prepared)];
    this.#isRenewed = prepared.connection === undefined;
  }

  async run(first: HttpRequest): Promise<ExecutionOutcome> {
    const { clock, random } = this.#dependencies;
    this.#pages.add(pageKey(first));
    for (let request = first; ; ) {
      const blocked = await this.#waitForLimit();
      if (blocked !== undefined) return this.#fail(blocked);
      const answer = await this.#send(request);
      if (answer.class === "ok") {
        const next = this.#nextPage(answer);
        if (next === undefined) return this.#succeed(answer);
        const rendered = renderPage(this.#prepared, next, clock.now());
        if ("fault" in rendered) return this.#fail(unusablePage(rendered.message));
        // A list that returns to an earlier page would never end.
        if (this.#pages.has(pageKey(rendered))) return this.#succeed(answer);
        this.#pages.add(pageKey(rendered));
        this.#page = next;
        this.#attempt = 0;
        request = rendered;
        continue;
      }
      const step = nextStep(this.#prepared.action, answer, {
        ...{ nowMs: clock.now(), deadlineMs: this.#deadlineMs, attempt: this.#attempt, random: random() },
        ...{ isRenewed: this.#isRenewed, mayHaveTakenEffect: this.#mayHaveTakenEffect },
      });
      this.#mayHaveTakenEffect ||= answer.mayHaveTakenEffect;
      if (step.step === "end") return this.#fail(answer);
      if (step.step === "retry") await delay(Math.max(0, step.atMs - clock.now()));
      else {
        const refusal = await this.#renew(answer);
        if (refusal !== undefined) return this.#fail(refusal);
        const rendered = renderPage(this.#prepared, this.#page, clock.now());
        if ("fault" in rendered) return this.#fail(unusablePage(rendered.message));
        request = rendered;
      }
    }
  }

  /** Waits until the provider allows requests; returns a refusal if that is after the deadline. */
  async #waitForLimit(): Promise<Refusal | undefined> {
    const { rateLimits, clock, metrics } = this.#dependencies;
    const { tenantId } = this.#prepared;
    for (;;) {
      const untilMs = rateLimits.blockedUntilMs(tenantId, this.#scope);
      if (untilMs === 0) return undefined;
      metrics.limited(untilMs + answerMsMin > this.#deadlineMs ? "refused" : "delayed");
      if (untilMs + answerMsMin > this.#deadlineMs) return limitedRefusal(untilMs);
      await delay(Math.max(1, untilMs - clock.now()));
    }
  }

  /** Sends one request and records the attempt. */
  async #send(request: HttpRequest): Promise<Success | Refusal> {
    const { clock, metrics } = this.#dependencies;
    const startedAtMs = clock.now();
    const started = performance.now();
    this.#attempt++;
    this.#sent++;
    const answer = await this.#exchange(request, startedAtMs);
    const durationMs = Math.round(performance.now() - started);
    metrics.requested(answer.class, durationMs / 1000);
    this.#noteLimit(answer);
    const failed = answer.class === "ok" ? undefined : answer;
    if (this.#attempts.length < attemptsKept) {
      this.#attempts.push({
        ...{ number: this.#sent, page: this.#pageNumber(), startedAtMs, durationMs },
        ...{ httpStatus: answer.httpStatus, class: answer.class, code: plainText(failed?.code ?? "") },
        mayHaveTakenEffect: safetyOf(this.#prepared.action) !== "read" && (failed?.mayHaveTakenEffect ?? false),
      });
    }
    return answer;
  }

  async #exchange(request: HttpRequest, nowMs: number): Promise<Success | Refusal> {
    const { http, clock } = this.#dependencies;
    const { provider, action } = this.#prepared;
    const timeoutMs = this.#deadlineMs - nowMs;
    if (timeoutMs <= 0) return noTimeLeft;
    try {
      const { settings } = accountOf(this.#prepared);
      const limits = { timeoutMs, bytesMax: action.responseBytesMax, signal: this.#signal };
      const answer = await http.send(provider, settings, request, limits);
      this.#bytes += answer.body.length;
      const isRaw = this.#prepared.start !== undefined;
      // The authorization first: without the credentials in it, it would not be recognised.
      const redactor = isRaw ? inOrder([authorizationRedactorOf(request), this.#redactor]) : this.#redactor;
      const reading = { provider, action, page: this.#page, redactor, nowMs: clock.now(), isRaw };
      return readAnswer(answer, reading);
    } catch (error) {
      return readFault(error);
    }
  }

  /** Blocks the connection as long as the provider wants. */
  #noteLimit(answer: Success | Refusal): void {
    const { rateLimits, clock } = this.#dependencies;
    if (answer.class !== "ok" && answer.class !== "rate_limited") return;
    const untilMs = answer.retryAtMs ?? (answer.class === "ok" ? 0 : clock.now() + blockMsDefault);
    rateLimits.block(this.#prepared.tenantId, this.#scope, untilMs);
  }

  /** The page to read next; undefined if there is none, or if the pages together are large enough. */
  #nextPage({ nextPage }: Success): PageState | undefined {
    return this.#bytes < pagesBytesMax ? nextPage : undefined;
  }

  #pageNumber(): number {
    return this.#prepared.action.paginate === undefined ? 0 : (this.#page?.pages ?? 0) + 1;
  }

  /** Has the connection renew its credentials; returns a refusal if it cannot. */
  async #renew(rejected: Refusal): Promise<Refusal | undefined> {
    const { connections } = this.#dependencies;
    const { tenantId, connection } = this.#prepared;
    const { id, credentialVersion } = connection!;
    this.#isRenewed = true;
    const rejection = await connections.markRejected(tenantId, id, credentialVersion);
    if (rejection !== "renewed") return { ...rejected, ...unrenewed(rejection) };
    const opened = await connections.open(tenantId, id);
    if (typeof opened === "string") return { ...rejected, ...unrenewed(opened) };
    this.#prepared = { ...this.#prepared, connection: opened as OpenConnection };
    this.#redactors = [...this.#redactors, redactorOf(this.#prepared)];
    return undefined;
  }

  /** Replaces all credentials that this execution has used. */
  get #redactor(): Redactor {
    return inOrder(this.#redactors);
  }

  #succeed({ output, nextPage, truncated, retryAtMs }: Success): ExecutionOutcome {
    return {
      ...{ status: "succeeded", class: "ok", code: "", message: "", attempts: this.#attempts },
      ...{ output: this.#redactor.value(output) as Json, retryAtMs },
      pagesTruncated: truncated || nextPage !== undefined,
    };
  }

  #fail({ class: answerClass, code, message, retryAtMs }: Refusal): ExecutionOutcome {
    const status = endStatus(safetyOf(this.#prepared.action), this.#mayHaveTakenEffect);
    return {
      ...{
        status,
        class: answerClass,
        code: plainText(code),
        message: plainText(this.#redactor.text(message)),
        attempts: this.#attempts,
      },
      ...{ output: undefined, pagesTruncated: false, retryAtMs },
    };
  }
}

function inOrder(redactors: readonly Redactor[]): Redactor {
  return redactors.reduce((one, other) => ({
    text: (text) => other.text(one.text(text)),
    value: (value) => other.value(one.value(value)),
  }));
}

function pageKey({ url, body = "" }: HttpRequest): string {
  return `${url}\n${body}`;
}

function plainText(text: string): string {
  return storableText(text).trim();
}

const refusal = { httpStatus: 0, notSent: true, mayHaveTakenEffect: false } as const;

const noTimeLeft: Refusal = {
  ...refusal,
  ...{ class: "unavailable", code: "timeout", message: "There was no time left for the request." },
};

function limitedRefusal(retryAtMs: number): Refusal {
  const message = "The provider allows no request of this connection before the execution would have to end.";
  return { ...refusal, class: "rate_limited", code: "limited", message, retryAtMs };
}

function unusablePage(reason: string): Refusal {
  return {
    ...refusal,
    class: "malformed",
    code: "next_page",
    message: `The next page cannot be requested: ${reason}.`,
  };
}

/** Why credentials were not renewed. */
function unrenewed(reason: string): Pick<Refusal, "code" | "message"> & Partial<Pick<Refusal, "class">> {
  if (reason === "accepted") {
    const message = "The provider refused this request, but accepts the credentials: they lack access to the resource.";
    return { class: "permission_denied", code: "credentials_accepted", message };
  }
  const code = reason === "rejected" ? "credentials_rejected" : reason;
  if (reason === "refresh_failed")
    return { code, message: "The provider rejected the credentials, and renewing them failed." };
  return { code, message: "The provider rejected the credentials. The end user must grant access again." };
}
