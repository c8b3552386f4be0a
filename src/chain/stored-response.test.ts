import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { type CreateApiKeyResponse, CreateApiKeyResponseSchema } from "../../gen/service/api/api_key_pb.ts";
import { readOperations } from "../definitions/index.ts";
import { createStoredResponseCodec } from "./stored-response.ts";

test("a stored response has no secret, and the caller's response keeps it", () => {
  const operation = readOperations().find(({ method }) => method.name === "CreateApiKey")!;
  const codec = createStoredResponseCodec(operation);
  const response = create(CreateApiKeyResponseSchema, { apiKey: { id: "k", secret: "sk_dev_1_only-once" } });

  const stored = codec.encode(response);
  assert.doesNotMatch(stored, /only-once/);
  const replayed = codec.decode(stored) as CreateApiKeyResponse;
  assert.deepEqual([replayed.apiKey?.id, replayed.apiKey?.secret], ["k", undefined]);
  assert.equal(response.apiKey?.secret, "sk_dev_1_only-once");
});
