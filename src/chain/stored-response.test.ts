import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { type CreateApiKeyResponse, CreateApiKeyResponseSchema } from "../../gen/service/api/api_key_pb.ts";
import { readOperations } from "../definitions/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import { createStoredResponseCodec } from "./stored-response.ts";

test("a secret in a record is not stored in clear text if there is no key to seal it with", () => {
  const operation = readOperations().find(({ method }) => method.name === "CreateApiKey")!;
  const codec = createStoredResponseCodec(operation, undefined);
  const claim = { tenantId: "t" as TenantId, fingerprint: Buffer.alloc(32) } as Parameters<typeof codec.encode>[1];
  const response = create(CreateApiKeyResponseSchema, { apiKey: { id: "k", secret: "sk_dev_1_only-once" } });

  const stored = codec.encode(response, claim);
  assert.doesNotMatch(stored, /only-once/);
  const replayed = codec.decode(stored, claim) as CreateApiKeyResponse;
  assert.deepEqual([replayed.apiKey?.id, replayed.apiKey?.secret], ["k", undefined]);
  assert.equal(response.apiKey?.secret, "sk_dev_1_only-once");
});
