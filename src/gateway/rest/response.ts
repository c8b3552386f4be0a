import { hash } from "node:crypto";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { type HttpBody, HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import type { Call } from "../../chain/call.ts";
import type { HttpBinding, Operation } from "../../definitions/index.ts";
import { pageLimit, pageOffset } from "../../platform/paging/index.ts";
import { createJsonEncoder } from "../../platform/protojson/index.ts";

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
): (call: Call, response: Message) => RestResponse {
  if (paging !== undefined) return createListWriter(method.output, paging.items.localName, paging.items.message!);
  const field =
    binding.responseBody === "" ? undefined : method.output.fields.find((each) => each.name === binding.responseBody);
  if (binding.responseBody !== "" && field?.message === undefined) {
    throw new Error(`${method.name}: response_body ${binding.responseBody} is not a message field`);
  }
  if (field?.message?.typeName === HttpBodySchema.typeName) {
    return (_call, response) => rawBody((response as unknown as Fields)[field.localName] as HttpBody);
  }
  const desc = field?.message ?? method.output;
  const encode = createJsonEncoder(desc, "proto");
  const version = desc.field.recordVersion?.localName;
  return (call, response) => {
    const data = (field === undefined ? response : (response as unknown as Fields)[field.localName]) as Message;
    const text = encode(data);
    const body = `{"data":${text},"metadata":${metadata(call)}}`;
    if (version === undefined) return { contentType: json, body };
    return { contentType: json, body, etag: toEtag((data as unknown as Fields)[version] as bigint, text) };
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

function createListWriter(output: DescMessage, itemsName: string, itemDesc: DescMessage) {
  const encode = createJsonEncoder(itemDesc, "proto");
  return (call: Call, response: Message): RestResponse => {
    const fields = response as unknown as Fields;
    const request = call.message as unknown as { pageSize: number; skip: number };
    const items = fields[itemsName] as Message[];
    const cursor = fields[output.field.nextPageToken!.localName] as string;
    let data = "";
    for (const item of items) data += data === "" ? encode(item) : `,${encode(item)}`;
    const body =
      `{"data":[${data}],"next_cursor":${JSON.stringify(cursor)},"total":${fields.totalSize},"total_capped":${fields.totalCapped},` +
      `"limit":${pageLimit(request.pageSize)},"offset":${pageOffset(request.skip)},"has_more":${cursor !== ""},` +
      `"metadata":${metadata(call)}}`;
    return { contentType: json, body };
  };
}

function rawBody({ contentType, data }: HttpBody): RestResponse {
  return { contentType, body: data };
}

function metadata(call: Call): string {
  return `{"request_id":${JSON.stringify(call.requestId)},"api_version":"${call.apiVersion}"}`;
}
