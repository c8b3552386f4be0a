import { hash } from "node:crypto";
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type HttpBody, HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import type { Call } from "../../chain/call.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { pageLimit, pageOffset } from "../../platform/paging/index.ts";
import { createListEncoder, createTurnEncoder } from "../../platform/protojson/index.ts";

/** A REST response body and its type. */
export interface RestResponse {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** The record's version and a digest of its JSON, if the response is one versioned record. */
  readonly etag?: string;
}

type Fields = Record<string, unknown>;
const json = "application/json";

/** Creates the writer of an operation's responses from its definition. */
export function createResponseWriter(
  { method, paging }: Operation,
  binding: HttpBinding,
): (call: Call, response: Message) => RestResponse | Promise<RestResponse> {
  if (paging !== undefined) {
    const writePage = paging.kind === "numbered" ? numberedPage : createCursorPage(method.output);
    return createListWriter(paging.items, writePage);
  }
  const field =
    binding.responseBody === "" ? undefined : method.output.fields.find((each) => each.name === binding.responseBody);
  if (binding.responseBody !== "" && field?.message === undefined) {
    throw new Error(`${method.name}: response_body ${binding.responseBody} is not a message field`);
  }
  if (field?.message?.typeName === HttpBodySchema.typeName) {
    return (_call, response) => rawBody((response as unknown as Fields)[field.localName] as HttpBody);
  }
  const desc = field?.message ?? method.output;
  const encode = createTurnEncoder(desc, "proto");
  const version = desc.field.recordVersion?.localName;
  const toResponse = (call: Call, data: Message, text: string): RestResponse => {
    const body = `{"data":${text},"metadata":${metadata(call)}}`;
    if (version === undefined) return { contentType: json, body };
    return { contentType: json, body, etag: toEtag((data as unknown as Fields)[version] as bigint, text) };
  };
  return (call, response) => {
    const data = (field === undefined ? response : (response as unknown as Fields)[field.localName]) as Message;
    const text = encode(data);
    return typeof text === "string"
      ? toResponse(call, data, text)
      : text.then((encoded) => toResponse(call, data, encoded));
  };
}

/**
 * A record's JSON also contains data from other records and running work, such as a pool's recipients. The digest covers
 * that data. If-Match compares only the version before it, because only changes to the record itself can be lost.
 */
function toEtag(version: bigint, text: string): string {
  return `"${version}-${hash("sha256", text, "base64url").slice(0, digestChars)}"`;
}

const digestChars = 22;

/** Writes the members of a list response that describe the page, as JSON without braces. */
type PageWriter = (response: Fields, request: Fields) => string;

function createListWriter({ localName, message }: DescField, writePage: PageWriter) {
  const encode = createListEncoder(message!, "proto");
  return (call: Call, response: Message): RestResponse | Promise<RestResponse> => {
    const fields = response as unknown as Fields;
    const toResponse = (data: string): RestResponse => {
      const page = writePage(fields, call.message as unknown as Fields);
      return { contentType: json, body: `{"data":${data},${page},"metadata":${metadata(call)}}` };
    };
    const data = encode(fields[localName] as Message[]);
    return typeof data === "string" ? toResponse(data) : data.then(toResponse);
  };
}

function createCursorPage(output: DescMessage): PageWriter {
  const cursorName = output.field.nextPageToken!.localName;
  return (response, request) => {
    const cursor = response[cursorName] as string;
    const { pageSize, skip } = request as { pageSize: number; skip: number };
    return (
      `"next_cursor":${JSON.stringify(cursor)},"total":${response.totalSize},"total_capped":${response.totalCapped},` +
      `"limit":${pageLimit(pageSize)},"offset":${pageOffset(skip)},"has_more":${cursor !== ""}`
    );
  };
}

/** The page of a marketplace list. */
const numberedPage: PageWriter = ({ total, page, perPage }) => `"total":${total},"page":${page},"per_page":${perPage}`;

function rawBody({ contentType, data }: HttpBody): RestResponse {
  return { contentType, body: data };
}

/** Neither value has characters that JSON escapes: the chain generates or verifies them. */
function metadata({ requestId, apiVersion }: Call): string {
  return `{"request_id":"${requestId}","api_version":"${apiVersion}"}`;
}
