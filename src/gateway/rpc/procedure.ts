import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { GovernanceSchema } from "../../../gen/service/options/governance_pb.ts";
import type { Call, CallResponse } from "../../chain/call.ts";
import { encodeOnce } from "../../chain/stream.ts";
import type { Operation } from "../../definitions/index.ts";
import { type Codec, jsonCodec, protoCodec } from "./codec/codec.ts";
import type { Format, RpcProtocol } from "./codec/wire-type.ts";

/** A callable method with its codecs. */
export interface Procedure {
  readonly operation: Operation;
  readonly codecs: Readonly<Record<Format, Codec>>;
  /** The protocols that support the method. */
  readonly protocols: readonly RpcProtocol[];
  /** Whether Connect clients may call it with GET. */
  readonly get: boolean;
  /** The smallest response that is compressed, if the caller accepts it. */
  readonly compressBytesMin: number;
  readonly invoke: (call: Call) => Promise<CallResponse>;
  /** Used instead of `invoke` for a bidirectional stream. */
  readonly handleStream?: (requests: AsyncIterable<Message>) => AsyncIterable<Message>;
}

// Compressing a smaller response costs more than it saves.
const compressBytesMinDefault = 1024;

export function createProcedure(
  operation: Operation,
  invoke: Procedure["invoke"],
  compressBytesMin = compressBytesMinDefault,
): Procedure {
  const { method } = operation;
  return {
    operation,
    codecs: {
      json: codecOf(operation, jsonCodec(method.input, method.output)),
      proto: codecOf(operation, protoCodec(method.input, method.output)),
    },
    protocols: protocolsOf(method),
    get: method.methodKind === "unary" && !operation.governance.mutating,
    compressBytesMin,
    invoke,
  };
}

/** The messages of a stream may be shared with other streams. */
function codecOf({ streaming }: Operation, codec: Codec): Codec {
  return streaming ? { decode: codec.decode, encode: encodeOnce(codec.encode) } : codec;
}

/** Creates a procedure that bypasses the chain, because it belongs to the protocol and not to the API. */
export function createProtocolProcedure(method: DescMethod, invoke: Procedure["invoke"]): Procedure {
  const operation: Operation = {
    id: `${method.parent.typeName}/${method.name}`,
    method,
    service: method.parent,
    governance: create(GovernanceSchema),
    command: "",
    bindings: [],
    scopes: [],
    paging: undefined,
    streaming: method.methodKind === "server_streaming",
    streamsBytes: false,
    acceptsIdempotencyKey: false,
    tokenCost: 0,
    toolName: undefined,
    rawBodyBytesMax: undefined,
  };
  return createProcedure(operation, invoke);
}

function protocolsOf(method: DescMethod): RpcProtocol[] {
  switch (method.methodKind) {
    case "unary":
      return ["connect_unary", "grpc", "grpc_web"];
    case "server_streaming":
      return ["connect_stream", "grpc", "grpc_web"];
    default:
      return ["grpc"];
  }
}
