import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { GovernanceSchema } from "../../../gen/service/options/governance_pb.ts";
import type { Answer, Call } from "../../chain/call.ts";
import type { Operation } from "../../definitions/index.ts";
import { type Codec, jsonCodec, protoCodec } from "./codec/codec.ts";
import type { Family, Format } from "./codec/wire-type.ts";

/** A method as the wire reaches it: its codecs, made once, and what runs it. */
export interface Procedure {
  readonly operation: Operation;
  readonly codecs: Readonly<Record<Format, Codec>>;
  /** The protocols that can carry the method. */
  readonly families: readonly Family[];
  /** Whether Connect may call it with GET. */
  readonly get: boolean;
  /** Answers from this size on are compressed for callers that accept it. */
  readonly compressBytesMin: number;
  readonly invoke: (call: Call) => Promise<Answer>;
  /** Set instead of `invoke` for a method whose requests are a stream too. */
  readonly converse?: (requests: AsyncIterable<Message>) => AsyncIterable<Message>;
}

// Below this, compression saves less than it costs.
const compressBytesMinDefault = 1024;

/** Makes the procedure of an operation. */
export function procedureOf(
  operation: Operation,
  invoke: Procedure["invoke"],
  compressBytesMin = compressBytesMinDefault,
): Procedure {
  const { method } = operation;
  return {
    operation,
    codecs: { json: jsonCodec(method.input, method.output), proto: protoCodec(method.input, method.output) },
    families: familiesOf(method),
    get: method.methodKind === "unary" && !operation.governance.mutating,
    compressBytesMin,
    invoke,
  };
}

/** Makes a procedure that the chain never sees: it belongs to the protocol, not to the API. */
export function protocolProcedure(method: DescMethod, invoke: Procedure["invoke"]): Procedure {
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
    tokenCost: 0,
  };
  return procedureOf(operation, invoke);
}

function familiesOf(method: DescMethod): Family[] {
  switch (method.methodKind) {
    case "unary":
      return ["connect_unary", "grpc", "grpc_web"];
    case "server_streaming":
      return ["connect_stream", "grpc", "grpc_web"];
    default:
      return ["grpc"];
  }
}
