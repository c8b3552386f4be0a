import {
  type DescField,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/google/api/http_pb.ts";
import { command, type Governance, governance } from "../../gen/service/options/governance_pb.ts";

/** A REST route of an operation. */
export interface HttpBinding {
  readonly verb: string;
  /** The path template, for example `/api/tenants/{tenant_id}`. */
  readonly path: string;
  /** The request field that the body is decoded into: "*" for the whole message, "" for none. */
  readonly body: string;
  /** The response field that becomes the body: "" for the whole message. */
  readonly responseBody: string;
}

/** How a list is paged. */
export interface Paging {
  /** cursor: by `next_page_token`. numbered: by `page` and `per_page`, with an exact `total`. */
  readonly kind: "cursor" | "numbered";
  /** The response field that holds the items. */
  readonly items: DescField;
}

/** The names of the paging fields in REST and in tools, with those of the fields. */
export const pagingNames: ReadonlyMap<string, string> = new Map([
  ["limit", "page_size"],
  ["cursor", "page_token"],
  ["offset", "skip"],
]);

/** The name that a field of a cursor list's request has in REST and in tools. */
export function restNameOf(field: string): string {
  return [...pagingNames].find(([, name]) => name === field)?.[0] ?? field;
}

/** An operation of the API, independent of the protocol. */
export interface Operation {
  /** The full method name, for example `service.api.TenantService/CreateTenant`. */
  readonly id: string;
  readonly method: DescMethod;
  readonly service: DescService;
  readonly governance: Governance;
  /** The CLI command in the definition; "" if it is derived from the method's name. */
  readonly command: string;
  readonly bindings: readonly HttpBinding[];
  /** Every scope that a caller needs: `resource:action` and any additional scopes. */
  readonly scopes: readonly string[];
  /** Set only for paged lists. */
  readonly paging: Paging | undefined;
  readonly streaming: boolean;
  /** Whether the stream is the bytes of one file, which REST returns as they are. */
  readonly streamsBytes: boolean;
  /** Whether a call may have an idempotency key: the operation changes state and is not a stream. */
  readonly acceptsIdempotencyKey: boolean;
  /** The rate-limit tokens that a call costs. */
  readonly tokenCost: number;
  /** The name of the tool in the Model Context Protocol, if the operation is one. */
  readonly toolName: string | undefined;
  /** The largest REST body, if it is raw bytes that the handler reads while they arrive. */
  readonly rawBodyBytesMax: number | undefined;
}

/** Reads an operation from its definition; throws if a required option is missing. */
export function operationOf(service: DescService, method: DescMethod): Operation {
  const id = `${service.typeName}/${method.name}`;
  if (!hasOption(method, governance)) throw new Error(`${id} has no governance option`);
  if (!hasOption(method, http)) throw new Error(`${id} has no HTTP binding`);
  const rule = getOption(method, http);
  const governed = getOption(method, governance);
  if (governed.subscriberToken && method.input.field.subscriberId?.scalar !== ScalarType.STRING) {
    throw new Error(`${id} accepts subscriber tokens, but its request names no subscriber`);
  }
  return {
    id,
    method,
    service,
    governance: governed,
    command: hasOption(method, command) ? getOption(method, command) : "",
    bindings: [rule, ...rule.additionalBindings].map((each) => bindingOf(id, each)),
    scopes: governed.authorizationRequired ? [`${governed.resource}:${governed.action}`, ...governed.scopes] : [],
    paging: pagingOf(method),
    streaming: method.methodKind === "server_streaming",
    streamsBytes: method.methodKind === "server_streaming" && rule.responseBody === "body" && isBytes(method),
    acceptsIdempotencyKey: governed.mutating && method.methodKind === "unary",
    tokenCost: governed.tokenCost,
    toolName: governed.mcpTool && (governed.mcpTool.name || snakeCased(method.name)),
    rawBodyBytesMax: governed.rawBodyBytesMax || undefined,
  };
}

/** Whether responses have raw bytes, and say what the bytes are. */
function isBytes({ output }: DescMethod): boolean {
  return output.field.body?.message?.typeName === "google.api.HttpBody" && output.field.content !== undefined;
}

function bindingOf(id: string, rule: HttpRule): HttpBinding {
  const { pattern, body, responseBody } = rule;
  if (pattern.case === undefined) throw new Error(`${id} has an HTTP binding without a path`);
  return pattern.case === "custom"
    ? { verb: pattern.value.kind, path: pattern.value.path, body, responseBody }
    : { verb: pattern.case.toUpperCase(), path: pattern.value, body, responseBody };
}

function pagingOf({ name, output }: DescMethod): Paging | undefined {
  const { nextPageToken, total, page, perPage } = output.field;
  const isNumbered = total !== undefined && page !== undefined && perPage !== undefined;
  if (nextPageToken === undefined && !isNumbered) return undefined;
  const items = output.fields.find((field) => field.fieldKind === "list" && field.listKind === "message");
  if (items === undefined) throw new Error(`${name} returns a page but has no repeated message field`);
  return { kind: isNumbered ? "numbered" : "cursor", items };
}

function snakeCased(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
