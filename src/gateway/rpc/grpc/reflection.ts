import { create, type DescMethod, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { fail, grpcCodes } from "../../../errors/index.ts";
import { type Procedure, protocolProcedure } from "../procedure.ts";
import { type VisibleFiles, visibleFiles } from "./visible-files.ts";

type Reply = MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"];

/** The paths at which reflection answers: many clients still ask at the older one, with the same messages. */
export const reflectionPaths: readonly string[] = [
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/** The gRPC reflection protocol: it shows the definitions of exactly these methods, and of itself. */
export function reflectionProcedure(methods: readonly DescMethod[]): Procedure {
  const method = ServerReflection.method.serverReflectionInfo;
  const files = visibleFiles([...methods, method]);
  const procedure = protocolProcedure(method, () => Promise.reject(fail("INTERNAL")));
  return { ...procedure, converse: (requests) => converse(files, requests) };
}

async function* converse(files: VisibleFiles, requests: AsyncIterable<Message>): AsyncGenerator<Message> {
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
      return errorReply(grpcCodes.invalid_argument, "The request asks nothing.");
  }
}

// A file that was sent before on the same stream is sent again only when it is asked for itself.
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
