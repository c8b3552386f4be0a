import { create, type DescMethod, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { fail, grpcCodes } from "../../../errors/index.ts";
import { createProtocolProcedure, type Procedure } from "../procedure.ts";
import { collectVisibleFiles, type VisibleFiles } from "./visible-files.ts";

type Reply = MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"];

/** The paths of reflection. Many clients still use the older path, with the same messages. */
export const reflectionPaths: readonly string[] = [
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/** Creates the gRPC reflection protocol. It returns the definitions of exactly these methods and of itself. */
export function createReflectionProcedure(methods: readonly DescMethod[]): Procedure {
  const method = ServerReflection.method.serverReflectionInfo;
  // Most nodes are never asked.
  let files: VisibleFiles | undefined;
  const procedure = createProtocolProcedure(method, () => Promise.reject(fail("INTERNAL")));
  return {
    ...procedure,
    handleStream: (requests) => {
      files ??= collectVisibleFiles([...methods, method]);
      return reply(files, requests);
    },
  };
}

async function* reply(files: VisibleFiles, requests: AsyncIterable<Message>): AsyncGenerator<Message> {
  const sent = new Set<string>();
  for await (const message of requests) {
    const request = message as ServerReflectionRequest;
    yield create(ServerReflectionResponseSchema, {
      validHost: request.host,
      originalRequest: request,
      messageResponse: replyTo(files, request, sent),
    });
  }
}

function replyTo(files: VisibleFiles, { messageRequest }: ServerReflectionRequest, sent: Set<string>): Reply {
  switch (messageRequest.case) {
    case "listServices": {
      const service = files.serviceNames.map((name) => ({ name }));
      return { case: "listServicesResponse", value: { service } };
    }
    case "fileByFilename":
      return fileReply(files, messageRequest.value, sent);
    case "fileContainingSymbol":
      return fileReply(files, files.fileOfSymbol(messageRequest.value), sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = messageRequest.value;
      return fileReply(files, files.fileOfExtension(containingType, extensionNumber), sent);
    }
    case "allExtensionNumbersOfType": {
      const baseTypeName = messageRequest.value;
      if (files.fileOfSymbol(baseTypeName) === undefined) return notFound();
      const extensionNumber = [...files.extensionNumbersOf(baseTypeName)];
      return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
    }
    default:
      return errorReply(
        grpcCodes.invalid_argument,
        "The request is empty. Set one of its fields (for example: list_services).",
      );
  }
}

// A dependency is sent only once per stream. A file requested by name is always sent.
function fileReply(files: VisibleFiles, fileName: string | undefined, sent: Set<string>): Reply {
  const names = fileName === undefined ? [] : files.closureOf(fileName);
  if (names.length === 0) return notFound();
  const fresh = names.filter((name, index) => index === 0 || !sent.has(name));
  for (const name of fresh) sent.add(name);
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: fresh.map((name) => files.bytesOf(name)) },
  };
}

function notFound(): Reply {
  return errorReply(grpcCodes.not_found, "No such definition.");
}

function errorReply(errorCode: number, errorMessage: string): Reply {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
