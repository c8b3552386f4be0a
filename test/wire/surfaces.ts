import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { CorrectionsSchema } from "../../gen/service/api/correction_pb.ts";
import { grpcCodes } from "../../src/errors/index.ts";
import { type Json, operations } from "../harness/operations.ts";
import { callOperation } from "../harness/wire.ts";

/** An error in the form that all surfaces share. */
export interface Refusal {
  readonly errorCode: string;
  /** The Connect or gRPC code; REST has its status instead. */
  readonly rpcCode: string | undefined;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly message: string;
  readonly violations: readonly { field: string; rule: string; message: string }[];
  readonly corrections: JsonValue;
  readonly requestId: string;
}

/** A response: the data in REST form, or an error. */
type Answer =
  | { readonly data: Json; readonly refusal?: undefined }
  | { readonly data?: undefined; readonly refusal: Refusal };

/** A protocol and client for calling operations. */
export interface Surface {
  readonly name: string;
  /** Calls an operation, named `Service/Method`, with the field names of the definition. */
  call(operation: string, request: Json, headers: Record<string, string>): Promise<Answer>;
}

/** Every surface of a plane; the returned function closes their connections. */
export function surfacesOf(baseUrl: string): { surfaces: Surface[]; close: () => void } {
  const client = new Client(new URL(baseUrl).host, credentials.createInsecure());
  const surfaces = [
    rest(baseUrl),
    connect("Connect JSON", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })),
    connect("Connect binary", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true })),
    grpcJs(client),
    connect("gRPC of connect-node", createGrpcTransport({ baseUrl })),
    connect("gRPC-Web", createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
  ];
  return { surfaces, close: () => client.close() };
}

function operationOf(name: string) {
  return operations.find(({ id }) => id === `service.api.${name}`)!;
}

function rest(baseUrl: string): Surface {
  return {
    name: "REST",
    async call(name, request, headers) {
      const { code, status, body, violations, requestId } = await callOperation(
        "REST",
        operationOf(name),
        { baseUrl, headers },
        request,
      );
      if (code === "OK") return { data: body.data };
      const { errorCode, retryable, detail: message, corrections = [] } = body;
      return {
        refusal: { errorCode, rpcCode: undefined, status, retryable, message, violations, corrections, requestId },
      };
    },
  };
}

function connect(name: string, transport: Transport): Surface {
  return {
    name,
    async call(operation, request, headers) {
      const { method } = operationOf(operation);
      try {
        const { message } = await transport.unary(
          method as never,
          undefined,
          undefined,
          headers,
          messageOf(method, request),
        );
        return { data: dataOf(operation, message as Message) };
      } catch (error) {
        const failure = ConnectError.from(error);
        const details = failure.details.flatMap((detail) => ("type" in detail ? [detail] : []));
        const code = Code[failure.code].replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
        return { refusal: refusalOf(code, failure.rawMessage, details) };
      }
    },
  };
}

/** A client that shares no code with ours. */
function grpcJs(client: Client): Surface {
  return {
    name: "gRPC of grpc-js",
    call(operation, request, headers) {
      const { method, id } = operationOf(operation);
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      return new Promise((resolve) =>
        client.makeUnaryRequest(
          `/${id}`,
          (message: Message) => Buffer.from(toBinary(method.input, message)),
          (bytes: Buffer) => fromBinary(method.output, bytes),
          messageOf(method, request),
          metadata,
          (error, answer) =>
            resolve(error === null ? { data: dataOf(operation, answer as Message) } : { refusal: grpcRefusal(error) }),
        ),
      );
    },
  };
}

function grpcRefusal(error: ServiceError): Refusal {
  const code = Object.entries(grpcCodes).find(([, number]) => number === error.code)?.[0] ?? String(error.code);
  const [bytes] = error.metadata.get("grpc-status-details-bin") as Buffer[];
  const details = bytes === undefined ? [] : fromBinary(StatusSchema, bytes).details;
  return refusalOf(
    code,
    error.details,
    details.map(({ typeUrl, value }) => ({ type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value })),
  );
}

function refusalOf(rpcCode: string, message: string, details: readonly { type: string; value: Uint8Array }[]): Refusal {
  const read = <Desc extends DescMessage>(desc: Desc) =>
    fromBinary(desc, details.find(({ type }) => type === desc.typeName)?.value ?? new Uint8Array());
  const info = read(ErrorInfoSchema);
  const { fieldViolations } = read(BadRequestSchema);
  const { corrections = [] } = toJson(CorrectionsSchema, read(CorrectionsSchema)) as JsonObject;
  return {
    errorCode: info.reason,
    rpcCode,
    status: undefined,
    retryable: info.metadata.retryable === "true",
    message,
    violations: fieldViolations.map(({ field, reason, description }) => ({
      field,
      rule: reason,
      message: description,
    })),
    corrections: corrections as JsonValue,
    requestId: info.metadata.request_id ?? "",
  };
}

function messageOf(method: DescMethod, request: Json): Message {
  return create(method.input, camelCased(request) as never);
}

function camelCased(request: Json): Json {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(request).map(([name, value]) => [camel(name), value]));
}

/** Converts the message of another protocol to REST form. */
function dataOf(name: string, message: Message): Json {
  const operation = operationOf(name);
  const whole = toJson(operation.method.output, message, {
    useProtoFieldName: true,
    alwaysEmitImplicit: true,
  }) as JsonObject;
  const field = operation.paging?.items.name ?? operation.bindings[0]!.responseBody;
  return withNumbers(field === "" ? whole : whole[field]) as Json;
}

/** Protobuf JSON writes 64-bit numbers as strings; REST writes them as numbers. */
function withNumbers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, each) => (key === "record_version" ? Number(each) : each));
}
