import type { Message } from "@bufbuild/protobuf";
import type { Call } from "../../chain/call.ts";
import { commentOf } from "../../definitions/comments.ts";
import { type Operation, pagingNames } from "../../definitions/index.ts";
import { invalid } from "../../errors/index.ts";
import { covers, type Principal } from "../../platform/access/index.ts";
import { createJsonDecoder } from "../../platform/protojson/index.ts";
import type { Schema } from "../openapi/document.ts";
import { createResponseWriter, type RestResponse } from "../rest/response.ts";
import { inputSchemaOf } from "./tool-schemas.ts";

/** The arguments of a tool call. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/** An operation as a tool. */
export interface Tool {
  readonly name: string;
  readonly operation: Operation;
  readonly isDestructive: boolean;
  /** The tool as an item of a list, in JSON. */
  readonly listed: string;
  /** Reads the request from the arguments, without those that the protocol adds. */
  decode(args: ToolArguments): Message;
  /** Writes the response as the body of the REST response. */
  write(call: Call, response: Message): RestResponse | Promise<RestResponse>;
}

/** The largest number of tools. A client offers all of them to its model, which chooses worse among more. */
const toolsMax = 40;

/** Clients add the server's name as a prefix and accept 60 to 64 characters. One name is fixed and has 55. */
const nameCharsMax = 55;

/** An argument of destructive tools, for clients that cannot ask their user. */
export const confirmArgument = "confirm";

/** An argument of tools that change something: the header of the same name in REST. */
export const idempotencyKeyArgument = "idempotency_key";

/** Creates the tools of all operations that the definitions mark, in a stable order. */
export function createTools(operations: readonly Operation[]): readonly Tool[] {
  const tools = operations.flatMap((each) => (each.toolName === undefined ? [] : [createTool(each, each.toolName)]));
  if (tools.length > toolsMax) throw new Error(`${tools.length} operations are tools; at most ${toolsMax} may be.`);
  const names = new Set(tools.map(({ name }) => name));
  if (names.size < tools.length) throw new Error("Two tools have the same name.");
  return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether a caller has all that a call of the tool requires. */
export function isAllowed({ operation }: Tool, { scopes, roles }: Principal): boolean {
  const { roles: accepted } = operation.governance;
  return (
    operation.scopes.every((scope) => covers(scopes, scope)) &&
    (accepted.length === 0 || accepted.some((role) => roles.includes(role)))
  );
}

function createTool(operation: Operation, name: string): Tool {
  const { method, governance, bindings, paging } = operation;
  const { title, destructive, idempotent, openWorld } = governance.mcpTool!;
  if (name.length > nameCharsMax) throw new Error(`${operation.id}: the name of a tool has at most ${nameCharsMax}.`);
  if (operation.streaming || operation.rawBodyBytesMax !== undefined || returnsRawBody(operation)) {
    throw new Error(`${operation.id}: a tool has one request and one response, both in JSON.`);
  }
  if (destructive && !governance.mutating) throw new Error(`${operation.id}: a tool that reads is not destructive.`);
  const additional: Record<string, Schema> = {};
  if (operation.acceptsIdempotencyKey) additional[idempotencyKeyArgument] = idempotencyKeySchema;
  if (destructive) additional[confirmArgument] = confirmSchema;
  for (const each of Object.keys(additional)) {
    if (method.input.fields.some((field) => field.name === each))
      throw new Error(`${operation.id} has ${each} itself.`);
  }
  const read = createJsonDecoder(method.input);
  return {
    name,
    operation,
    isDestructive: destructive,
    listed: JSON.stringify({
      name,
      title,
      description: commentOf(method),
      inputSchema: inputSchemaOf(operation, additional),
      annotations: {
        readOnlyHint: !governance.mutating,
        destructiveHint: destructive,
        idempotentHint: !governance.mutating || idempotent,
        openWorldHint: openWorld,
      },
    }),
    decode(args) {
      const fields = Object.entries(args).filter(([key]) => !Object.hasOwn(additional, key));
      if (paging?.kind === "cursor") {
        return read(Object.fromEntries(fields.map(([key, value]) => [fieldNameOf(key), value])), { strict: true });
      }
      return read(Object.fromEntries(fields), { strict: true });
    },
    write: createResponseWriter(operation, bindings[0]!),
  };
}

/** The field of a paging argument. The RPC names are no arguments, as they are no parameters in REST. */
function fieldNameOf(argument: string): string {
  for (const [name, rpcName] of pagingNames) {
    if (argument === rpcName) throw invalid(argument, "unknown_field", `is not an argument; use ${name}`);
  }
  return pagingNames.get(argument) ?? argument;
}

function returnsRawBody({ method, bindings }: Operation): boolean {
  const field = method.output.fields.find(({ name }) => name === bindings[0]!.responseBody);
  return (field?.message ?? method.output).typeName === "google.api.HttpBody";
}

const idempotencyKeySchema: Schema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description: "A unique value for this change, for example a UUID. A repeated call with it has no further effect.",
};

const confirmSchema: Schema = {
  type: "boolean",
  description: "Whether the user has agreed to this call. Ignored if the client asks the user by elicitation.",
};
