import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluateCondition } from "../../../platform/cel/index.ts";
import type { Json } from "../../../platform/document/index.ts";
import { EgressError } from "../../../platform/egress/index.ts";
import { checkValue } from "../../../platform/json-schema/index.ts";
import { loadBuiltinProviders } from "./catalogue/builtin-providers.ts";
import { checkInput } from "./domain/check-input.ts";
import { valueAt } from "./domain/json-pointer.ts";
import type { Action } from "./domain/language/action.ts";
import type { Trigger } from "./domain/language/trigger.ts";
import type { Provider } from "./domain/provider.ts";
import { renderRequest } from "./domain/request/render-request.ts";
import type { HttpRequest, RequestSpec } from "./domain/request-spec.ts";
import { readOutput } from "./domain/response/output.ts";
import { type HttpAnswer, readResponse } from "./domain/response/read-response.ts";
import { readTime } from "./domain/response/time-hint.ts";
import { createGuardedHttp } from "./guarded-http.ts";
import {
  type ActionContract,
  accountOf,
  type Contract,
  contractKeys,
  type ExpectedRequest,
  type RecordedAnswer,
  type RecordedDelivery,
  type RecordedFailure,
  readContract,
  type TriggerContract,
} from "./testing/contract.ts";
import { type MockProvider, startMock } from "./testing/mock-provider.ts";
import { sampleAccount } from "./testing/sample-account.ts";
import { sampleValue } from "./testing/sample-value.ts";

const nowMs = Date.UTC(2026, 0, 1);
const idempotencyKey = "key-1";
const providers = loadBuiltinProviders();
/** Providers whose API takes the credentials in the path. */
const secretInUrl: ReadonlySet<string> = new Set(["telegram"]);

function executable(provider: Provider): readonly Action[] {
  return [...provider.actions.values()].filter(({ runtime }) => runtime.status === "executable");
}

function requireContract(provider: Provider): Contract {
  const contract = readContract(provider.key);
  assert.ok(contract, `${provider.key} needs connectors/contracts/${provider.key}.json`);
  return contract;
}

function contractOf(contract: Contract, { key, name }: Action): ActionContract {
  const found = contract.actions[name];
  assert.ok(found, `${key} is executable and needs an entry in connectors/contracts/${contract.provider}.json`);
  return found;
}

function renderAction(provider: Provider, action: Action, contract: Contract, input: Json): HttpRequest {
  const { request, mutation, paginate } = action;
  const values = { input, account: accountOf(contract, provider), idempotencyKey, nowMs };
  const rendered = renderRequest(provider, request!, values, { mutation, paginate });
  if ("fault" in rendered) assert.fail(`${action.key}: ${rendered.place} ${rendered.message}`);
  return rendered;
}

function answerOf({ status, headers = {}, body, text }: RecordedAnswer): HttpAnswer {
  return { status, headers, body: Buffer.from(text ?? (body === undefined ? "" : JSON.stringify(body))) };
}

function checkRequest(sent: HttpRequest, expected: ExpectedRequest, headers: Readonly<Record<string, string>>): void {
  const url = new URL(sent.url);
  assert.equal(`${sent.method} ${url.origin}${url.pathname}`, `${expected.method} ${expected.url}`);
  assert.deepEqual(Object.fromEntries(url.searchParams), expected.query ?? {});
  for (const [name, value] of Object.entries({ ...headers, ...expected.headers })) {
    assert.equal(sent.headers[name], value, `header ${name}`);
  }
  const body = sent.body?.toString();
  if (expected.json !== undefined) {
    assert.ok(body !== undefined, "a body must be sent");
    assert.deepEqual(JSON.parse(body), expected.json);
    assert.match(sent.headers["content-type"] ?? "", /json/);
  } else if (expected.form !== undefined) {
    assert.deepEqual(formOf(body ?? ""), expected.form);
    assert.equal(sent.headers["content-type"], "application/x-www-form-urlencoded");
  } else {
    assert.equal(body, expected.text);
  }
}

function formOf(text: string): Record<string, string | string[]> {
  const form: Record<string, string | string[]> = {};
  const parsed = new URLSearchParams(text);
  for (const name of new Set(parsed.keys())) {
    const all = parsed.getAll(name);
    form[name] = all.length === 1 ? all[0]! : all;
  }
  return form;
}

function checkFailure(provider: Provider, action: Action, expected: RecordedFailure, answer: HttpAnswer): void {
  const read = readResponse(provider, action, answer, { nowMs });
  assert.equal(read.class, expected.class, `${action.key}: ${JSON.stringify(read)}`);
  if (read.class === "ok") return;
  if (expected.code !== undefined) assert.equal(read.code, expected.code);
  if (expected.message !== undefined) assert.equal(read.message, expected.message);
  const waitMs = read.retryAtMs === undefined ? undefined : read.retryAtMs - nowMs;
  if (expected.retry_after_s !== undefined) assert.equal(waitMs, expected.retry_after_s * 1000);
}

/** The three recorded failures of an action. */
function failuresOf(contract: Contract, own: ActionContract): readonly RecordedFailure[] {
  return [own.error ?? contract.error, own.rate_limit ?? contract.rate_limit, contract.expired];
}

test("at least 45 providers with 150 actions ship with the service, and at least 60 actions are executable", () => {
  const actions = providers.flatMap(({ actions }) => [...actions.values()]);
  const executables = providers.flatMap(executable);
  assert.ok(providers.length >= 45, `${providers.length} providers`);
  assert.ok(actions.length >= 150, `${actions.length} actions`);
  assert.ok(executables.length >= 60, `${executables.length} executable actions`);
});

test("every action says what it does, what it needs and what it returns", () => {
  for (const action of providers.flatMap(({ actions }) => [...actions.values()])) {
    assert.ok(action.description !== "", `${action.key} needs a description`);
    assert.equal(action.inputSchema.additionalProperties, false, `${action.key} must refuse unknown input`);
    if (action.runtime.status === "executable") assert.ok(action.outputSchema, `${action.key} needs an output_schema`);
    else assert.ok(action.runtime.reason !== "", `${action.key} needs a reason`);
  }
});

test("every trigger has a description, and one that is not executable says why", () => {
  for (const trigger of providers.flatMap(({ triggers }) => [...triggers.values()])) {
    assert.ok(trigger.description !== "", `${trigger.key} needs a description`);
    if (trigger.runtime.status !== "executable") assert.ok(trigger.runtime.reason !== "", trigger.key);
  }
});

test("every authentication mode renders every executable action, with all properties of its input", () => {
  for (const provider of providers) {
    for (const mode of provider.authModes) {
      const account = sampleAccount(provider, mode);
      for (const action of executable(provider)) {
        const values = { input: sampleValue(action.inputSchema), account, idempotencyKey, nowMs };
        const rendered = renderRequest(provider, action.request!, values, action);
        if ("fault" in rendered) assert.fail(`${action.key} with ${mode}: ${rendered.place} ${rendered.message}`);
      }
    }
  }
});

test("contracts exist only for executable actions and triggers of built-in providers", () => {
  for (const key of contractKeys()) {
    const provider = providers.find((each) => each.key === key);
    assert.ok(provider, `connectors/contracts/${key}.json has no manifest`);
    const contract = requireContract(provider);
    assert.equal(contract.provider, key);
    for (const name of Object.keys(contract.actions)) {
      assert.equal(provider.actions.get(name)?.runtime.status, "executable", `${key}.${name}`);
    }
    for (const name of Object.keys(contract.triggers ?? {})) {
      assert.equal(provider.triggers.get(name)?.runtime.status, "executable", `${key}.${name}`);
    }
  }
});

for (const provider of providers) {
  const actions = executable(provider);
  test(`${provider.key}: actions send the documented requests and read the documented answers`, async (t) => {
    const contract = requireContract(provider);
    for (const action of actions) {
      await t.test(action.name, () => checkAction(provider, action, contract));
    }
  });

  test(`${provider.key}: actions survive the faults of a real connection`, async () => {
    const contract = requireContract(provider);
    const mock = await startMock(provider);
    try {
      for (const action of actions) await checkOverHttp(provider, action, contract, mock);
      assert.deepEqual(mock.undeclared, []);
    } finally {
      await mock.close();
    }
  });

  const triggers = [...provider.triggers.values()].filter(({ runtime }) => runtime.status === "executable");
  if (triggers.length === 0) continue;
  test(`${provider.key}: triggers send the documented requests and read the documented deliveries`, async (t) => {
    const contract = requireContract(provider);
    for (const trigger of triggers) {
      await t.test(trigger.name, () => checkTrigger(provider, trigger, contract));
    }
  });
}

function checkAction(provider: Provider, action: Action, contract: Contract): void {
  const own = contractOf(contract, action);
  assert.deepEqual(checkInput(action, own.input), []);
  const sent = renderAction(provider, action, contract, own.input);
  checkRequest(sent, own.request, contract.headers ?? {});
  for (const secret of secretInUrl.has(provider.key) ? [] : Object.values(contract.account.credentials)) {
    assert.ok(!sent.url.includes(encodeURIComponent(secret)), "the URL must not contain credentials");
  }
  const read = readResponse(provider, action, answerOf(own.response), { nowMs });
  if (read.class !== "ok") assert.fail(`${read.class} ${read.code} ${read.message}`);
  assert.deepEqual(read.output, own.output);
  assert.equal(read.nextPage, undefined, "the recorded answer must be the last page");
  assert.deepEqual(checkValue(action.outputSchema!, read.output, "output"), []);
  for (const failure of failuresOf(contract, own)) checkFailure(provider, action, failure, answerOf(failure));
}

async function checkOverHttp(provider: Provider, action: Action, contract: Contract, mock: MockProvider) {
  const own = contractOf(contract, action);
  const { settings } = accountOf(contract, provider);
  const http = createGuardedHttp(mock.egress);
  const sent = renderAction(provider, action, contract, own.input);
  const limits = { timeoutMs: 10_000, bytesMax: action.responseBytesMax };
  const send = () => http.send(provider, settings, sent, limits);
  const answerWith = ({ status, headers, body, text }: RecordedAnswer) =>
    mock.fail("*", { kind: "answer", status, headers, body: text ?? body });

  answerWith(own.response);
  const read = readResponse(provider, action, await send(), { nowMs });
  assert.equal(read.class, "ok", `${action.key}: ${JSON.stringify(read)}`);
  // The generic provider returns all headers; a real connection adds some.
  if (read.class === "ok" && provider.key !== "http") assert.deepEqual(read.output, own.output);

  for (const failure of failuresOf(contract, own)) {
    answerWith(failure);
    // An answer to HEAD has no body.
    const expected = own.request.method === "HEAD" ? { status: failure.status, class: failure.class } : failure;
    checkFailure(provider, action, expected, await send());
  }
  mock.fail("*", { kind: "malformed" });
  const garbage = readResponse(provider, action, await send(), { nowMs });
  assert.equal(garbage.class, action.response === "json" ? "malformed" : "ok", action.key);
  for (const when of ["before_answer", "in_answer"] as const) {
    mock.fail("*", { kind: "cut", when });
    await assert.rejects(send(), (error) => error instanceof EgressError && error.mayHaveArrived, action.key);
  }
}

function checkTrigger(provider: Provider, trigger: Trigger, contract: Contract): void {
  const own = contract.triggers?.[trigger.name];
  assert.ok(own, `${trigger.key} needs an entry in connectors/contracts/${provider.key}.json`);
  assert.deepEqual(checkInput(trigger, own.input), []);
  const account = accountOf(contract, provider);
  const subscription = {
    callback_url: "https://callbacks.example.com/1",
    secret: "secret-1",
    id: own.register?.id ?? "",
    expires_at: "2026-01-03T00:00:00.000Z",
  };
  const check = (kind: "register" | "renew" | "unregister" | "poll", request: RequestSpec | undefined) => {
    assert.equal(own[kind] !== undefined, request !== undefined, `${trigger.key}: ${kind}`);
    if (request === undefined) return;
    const options = { paginate: kind === "poll" ? trigger.poll?.paginate : undefined };
    const sent = renderRequest(provider, request, { input: own.input, account, subscription, nowMs }, options);
    if ("fault" in sent) assert.fail(`${trigger.key}: ${sent.place} ${sent.message}`);
    checkRequest(sent, own[kind]!.request, {});
  };
  check("register", trigger.register?.request);
  check("renew", trigger.register?.renew);
  check("unregister", trigger.register?.unregister);
  check("poll", trigger.poll?.request);
  checkAnswers(trigger, own);
  assert.equal(own.delivery !== undefined, trigger.kind === "webhook", `${trigger.key}: delivery`);
  if (own.delivery !== undefined) checkDelivery(trigger, own.input, own.delivery);
}

function checkDelivery(trigger: Trigger, input: Json, { headers, body, key, payload }: RecordedDelivery): void {
  const items = trigger.items === undefined ? [body] : valueAt(body, trigger.items);
  assert.ok(Array.isArray(items), `${trigger.key}: items`);
  const events = (items as readonly Json[]).flatMap((item) => {
    const values = { headers, query: {}, body, item, input };
    const isWanted =
      trigger.events.length === 0 ||
      trigger.events.some(({ when }) => when === undefined || evaluateCondition(when, values));
    if (!isWanted) return [];
    const bytes = Buffer.alloc(0);
    const read =
      trigger.output === undefined ? item : readOutput(trigger.output, { status: 200, headers, bytes, body: item });
    return [{ key: trigger.dedup?.evaluate(values), payload: read }];
  });
  assert.deepEqual(events, [{ key, payload }]);
}

function checkAnswers({ key, register, poll }: Trigger, own: TriggerContract): void {
  if (register !== undefined && own.register !== undefined) {
    const { body, id, secret, expires_ms } = own.register;
    assert.equal(String(valueAt(body, register.id)), id, `${key}: id`);
    if (register.secret.kind === "answer") assert.equal(valueAt(body, register.secret.pointer), secret);
    if (register.expires !== undefined && "at" in register.expires) {
      const { at, unit } = register.expires;
      assert.equal(readTime(String(valueAt(body, at)), unit, nowMs), expires_ms, `${key}: expiry`);
    }
  }
  if (poll === undefined || own.poll === undefined) return;
  const items = valueAt(own.poll.body, poll.items);
  assert.ok(Array.isArray(items), `${key}: items`);
  const keys = (items as readonly Json[]).map((item) => poll.key.map((pointer) => valueAt(item, pointer)));
  assert.deepEqual(keys, own.poll.keys);
}
