import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { GetLayoutResponseSchema } from "../../../gen/service/api/layout_pb.ts";
import {
  GetWebhookEndpointResponseSchema,
  WebhookEndpoint_DisabledReason,
  WebhookEndpointSchema,
} from "../../../gen/service/api/webhook_pb.ts";
import { jsonToValue } from "../protojson/index.ts";
import { createMessageConverter, enumNumbers, nameOf } from "./index.ts";

const toEndpointResponse = createMessageConverter(GetWebhookEndpointResponseSchema);

test("a plain record becomes the message of its fields, and other members are left out", () => {
  const at = new Date("2026-01-02T03:04:05.678Z");
  const eventTypes = ["order.paid"];
  const endpoint = {
    ...{ id: "1", url: "https://a.example", eventTypes, ordered: true, recordVersion: 7, createdAt: at },
    ...{ failingSince: null, secret: undefined, transform: { a: [1, null] }, ciphertext: "sealed" },
  };
  const message = toEndpointResponse({ endpoint });
  assert.deepEqual(
    message,
    create(GetWebhookEndpointResponseSchema, {
      endpoint: {
        ...{ id: "1", url: "https://a.example", eventTypes: ["order.paid"], ordered: true, recordVersion: 7n },
        ...{ createdAt: timestampFromDate(at), transform: jsonToValue({ a: [1, null] }) },
      },
    }),
  );
  assert.notEqual(message.endpoint!.eventTypes, eventTypes, "the message does not share lists with the record");
});

test("a message stays as it is, at the top and in a record", () => {
  const endpoint = create(WebhookEndpointSchema, { id: "1" });
  assert.equal(toEndpointResponse({ endpoint }).endpoint, endpoint);
  const response = create(GetWebhookEndpointResponseSchema, { endpoint });
  assert.equal(toEndpointResponse(response), response);
  const foreign = create(GetLayoutResponseSchema);
  const converted = toEndpointResponse({ ...foreign, endpoint });
  assert.deepEqual(converted, response, "a message of another type is a record");
});

test("a caller's document stays a document, even if it looks like a message or is null", () => {
  const document = { $typeName: "google.protobuf.Value", kind: { case: "stringValue", value: "x" } };
  const transformed = (transform: unknown) => toEndpointResponse({ endpoint: { transform } }).endpoint!.transform;
  assert.deepEqual(transformed(document), jsonToValue(document));
  assert.deepEqual(transformed(null), jsonToValue(null));
  assert.equal(transformed(undefined), undefined);
  const metadata = { $typeName: "service.api.Layout" };
  const { layout } = createMessageConverter(GetLayoutResponseSchema)({ layout: { metadata } });
  assert.deepEqual(layout!.metadata, metadata);
});

test("enum values are named in lower case, without the unspecified one", () => {
  const reasons = enumNumbers(WebhookEndpoint_DisabledReason);
  assert.deepEqual(reasons, { "": 0, manual: 1, gone: 2, failing: 3 });
  assert.deepEqual([nameOf(reasons, 2), nameOf(reasons, 0), nameOf(reasons, 9)], ["gone", undefined, undefined]);
});
