import { create, toBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "../../../../gen/google/rpc/status_pb.ts";
import { type Failure, grpcCodes } from "../../../errors/index.ts";
import { headersOf, rpcCodeOf, toErrorDetails } from "../error-details.ts";

// Many clients accept at most 8 KiB of headers, and base64 adds a third.
const statusBytesMax = 4096;
const messageCharactersMax = 1024;

/** The trailers of a successful call. */
export const grpcOk: Readonly<Record<string, string>> = { "grpc-status": "0" };

/** Converts a failure to the trailers of a call. */
export function toGrpcTrailers(failure: Failure, requestId: string): Record<string, string> {
  const code = grpcCodes[rpcCodeOf(failure)];
  const message = failure.message.slice(0, messageCharactersMax);
  return {
    ...headersOf(failure),
    "grpc-status": String(code),
    "grpc-message": percentEncode(message),
    "grpc-status-details-bin": statusBytes(failure, code, message, requestId).toString("base64").replace(/=+$/, ""),
  };
}

function statusBytes(failure: Failure, code: number, message: string, requestId: string): Buffer {
  let { corrections } = failure;
  for (let count = failure.violations.length; ; ) {
    const details = toErrorDetails(failure, requestId, failure.violations.slice(0, count), corrections);
    const status = create(StatusSchema, {
      code,
      message,
      details: details.map(({ type, value }) => ({ typeUrl: `type.googleapis.com/${type}`, value })),
    });
    const bytes = Buffer.from(toBinary(StatusSchema, status));
    // Long lists are truncated, because an oversized trailer would be lost completely: first that of corrections.
    if (bytes.length <= statusBytesMax || count === 0) return bytes;
    if (corrections.length > 0) corrections = corrections.slice(0, corrections.length >> 1);
    else count >>= 1;
  }
}

// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md: everything but printable ASCII, and the percent sign.
function percentEncode(message: string): string {
  return message.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}
