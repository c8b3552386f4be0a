import { generateKeyPairSync } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isJsonObject, type Json, type JsonObject } from "../../../../platform/document/index.ts";
import type { AuthMode } from "../domain/language/auth/modes.ts";
import type { MessageChannel, MessageFailure } from "../domain/language/messages/messages.ts";
import type { AccountValues, Provider } from "../domain/provider.ts";
import type { HttpMethod } from "../domain/request-spec.ts";
import type { AnswerClass } from "../domain/response-spec.ts";

/** A request that must be sent. */
export interface ExpectedRequest {
  readonly method: HttpMethod;
  /** Without the query. */
  readonly url: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: Json;
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  readonly text?: string;
}

/** An answer as the vendor documents it. */
export interface RecordedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly text?: string;
}

/** An answer that is not a success, and what must be read from it. */
export interface RecordedFailure extends RecordedAnswer {
  readonly class: AnswerClass;
  readonly code?: string;
  readonly message?: string;
  readonly retry_after_s?: number;
}

export interface ActionContract {
  readonly input: JsonObject;
  readonly request: ExpectedRequest;
  readonly response: RecordedAnswer;
  readonly output: Json;
  readonly error?: RecordedFailure;
  readonly rate_limit?: RecordedFailure;
}

export interface TriggerRequestContract {
  readonly request: ExpectedRequest;
  readonly body?: Json;
  readonly id?: string;
  readonly secret?: string;
  readonly expires_ms?: number;
  readonly keys?: readonly (readonly Json[])[];
}

/** A webhook as the vendor documents it, and the only event that must be read from it. */
export interface RecordedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or the members of a form. */
  readonly body: Json;
  readonly key?: string;
  readonly payload: Json;
}

export interface TriggerContract {
  readonly input: JsonObject;
  readonly delivery?: RecordedDelivery;
  readonly register?: TriggerRequestContract;
  readonly renew?: TriggerRequestContract;
  readonly unregister?: TriggerRequestContract;
  readonly poll?: TriggerRequestContract;
}

/** A notification, and what must be sent for it. */
export interface SendContract {
  readonly channel: MessageChannel;
  readonly message: {
    readonly to: string;
    readonly to_data?: JsonObject;
    readonly subject?: string;
    readonly title?: string;
    readonly text?: string;
    readonly html?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly data?: JsonObject;
    readonly attachments?: readonly {
      readonly filename: string;
      readonly content_type: string;
      readonly content: string;
    }[];
  };
  readonly request: ExpectedRequest;
  readonly response: RecordedAnswer;
  readonly message_id: string;
}

/** A callback as the vendor documents it, and the events that must be read from it. */
export interface CallbackContract {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly events: readonly JsonObject[];
}

/** How a provider sends notifications. Settings and credentials are added to those of the account. */
export interface MessageContract {
  readonly settings: JsonObject;
  readonly credentials: Readonly<Record<string, string>>;
  readonly sends: readonly SendContract[];
  readonly failures: readonly (RecordedAnswer & { readonly failure: MessageFailure; readonly suppress?: boolean })[];
  readonly callbacks: readonly CallbackContract[];
}

/** A provider's documented behaviour, in the form of `connectors/contracts/README.md`. */
export interface Contract {
  readonly provider: string;
  readonly mode: AuthMode;
  readonly account: {
    readonly id: string;
    readonly settings: JsonObject;
    readonly captured: JsonObject;
    readonly credentials: Readonly<Record<string, string>>;
  };
  readonly headers?: Readonly<Record<string, string>>;
  readonly error: RecordedFailure;
  readonly rate_limit: RecordedFailure;
  readonly expired: RecordedFailure;
  readonly actions: Readonly<Record<string, ActionContract>>;
  readonly triggers?: Readonly<Record<string, TriggerContract>>;
  readonly notifications?: MessageContract;
}

/** The key pair of contracts that need one. */
export const contractKeyPair = generateKeyPairSync("ec", { namedCurve: "P-256" });

const generated: Readonly<Record<string, string>> = {
  "generated:ec-private": contractKeyPair.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  "generated:ec-public": contractKeyPair.publicKey.export({ format: "der", type: "spki" }).toString("base64"),
};

const folder = new URL("../../../../../connectors/contracts/", import.meta.url);

export function contractKeys(): readonly string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []));
}

/** Reads the contract of a provider; undefined if there is none. Throws if it has unknown members. */
export function readContract(key: string): Contract | undefined {
  const file = new URL(`${key}.json`, folder);
  if (!existsSync(file)) return undefined;
  const contract = JSON.parse(readFileSync(file, "utf8")) as Json;
  checkMembers(contract, shape, key);
  return contract as unknown as Contract;
}

/** The values of the connection that a contract uses. */
export function accountOf({ mode, account }: Contract, { settings }: Provider): AccountValues {
  const defaults = settings.flatMap((each) => (each.default === undefined ? [] : [[each.name, each.default] as const]));
  return {
    mode,
    settings: { ...Object.fromEntries(defaults), ...account.settings },
    captured: account.captured,
    account: { id: account.id, label: "Test account" },
    credentials: withKeys(account.credentials),
    config: {},
  };
}

/** Replaces the names of generated keys. */
export function withKeys(credentials: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name, generated[value] ?? value]));
}

/** The known members of an object; `*` stands for all other names, and null for any value. */
interface Shape {
  readonly [name: string]: Shape | null;
}

const request: Shape = { method: null, url: null, query: null, headers: null, json: null, form: null, text: null };
const answer: Shape = { status: null, headers: null, body: null, text: null };
const failure: Shape = { ...answer, class: null, code: null, message: null, retry_after_s: null };
const triggerRequest: Shape = { request, body: null, id: null, secret: null, expires_ms: null, keys: null };
const shape: Shape = {
  provider: null,
  mode: null,
  account: { id: null, settings: null, captured: null, credentials: null },
  headers: null,
  error: failure,
  rate_limit: failure,
  expired: failure,
  actions: { "*": { input: null, request, response: answer, output: null, error: failure, rate_limit: failure } },
  triggers: {
    "*": {
      input: null,
      register: triggerRequest,
      renew: triggerRequest,
      unregister: triggerRequest,
      poll: triggerRequest,
      delivery: { headers: null, body: null, key: null, payload: null },
    },
  },
  notifications: { settings: null, credentials: null, sends: null, failures: null, callbacks: null },
};

function checkMembers(value: Json | undefined, known: Shape, path: string): void {
  if (!isJsonObject(value)) throw new Error(`${path} must be an object`);
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(known, name) ? known[name] : known["*"];
    if (inner === undefined) throw new Error(`${path}.${name} is not known`);
    if (inner !== null) checkMembers(member, inner, `${path}.${name}`);
  }
}
