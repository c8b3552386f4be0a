import { createHmac, createSign, sign } from "node:crypto";
import type { OpenConnection } from "../../../src/modules/connectors/connections/index.ts";
import type { CallbackSpec, SignedPart } from "../../../src/modules/connectors/manifests/index.ts";
import { type CallbackContract, contractKeyPair } from "../../../src/modules/connectors/manifests/testing/contract.ts";
import { secretOf } from "../../../src/modules/connectors/messaging/callback-secret.ts";
import type { MessageCallback } from "../../../src/modules/connectors/messaging/index.ts";
import type { Json, JsonObject } from "../../../src/platform/document/index.ts";
import type { Identity } from "../../harness/certificates.ts";
import { contractMs } from "./messaging-fixture.ts";

/** Where the mock of Amazon SNS serves its certificate. */
export const certificateUrl = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem";

const callbackUrl = "https://service.example.com/callbacks";

/** A recorded callback with the signature that the provider would make. */
export function signedCallback(
  spec: CallbackSpec,
  connection: OpenConnection,
  { headers: recorded = {}, body }: CallbackContract,
  amazon: Identity,
): MessageCallback {
  const { verify } = spec;
  const secret = secretOf(spec, connection)!;
  const callback = (headers: Record<string, string>, content: Json = body): MessageCallback => ({
    method: "POST",
    headers: { "content-type": "application/json", ...recorded, ...headers },
    rawBody: Buffer.from(JSON.stringify(content)),
    url: callbackUrl,
  });
  const timestamp = String(contractMs / 1000);
  const timestampHeaders =
    "timestamp" in verify &&
    verify.timestamp !== undefined &&
    "from" in verify.timestamp &&
    "header" in verify.timestamp.from
      ? { [verify.timestamp.from.header]: timestamp }
      : {};
  const text = (over: readonly SignedPart[]) =>
    over
      .map((part) => {
        if (part.kind === "literal") return part.text;
        if (part.kind === "header") return recorded[part.name]!;
        return part.kind === "timestamp" ? timestamp : JSON.stringify(body);
      })
      .join("");
  switch (verify.kind) {
    case "hmac": {
      const key = verify.key === "base64" ? Buffer.from(secret.replace("whsec_", ""), "base64") : secret;
      const signature = createHmac(verify.algorithm, key).update(text(verify.over)).digest(verify.encoding);
      return callback({ ...timestampHeaders, [verify.header]: `${verify.prefix}${signature}` });
    }
    case "ecdsa": {
      const signature = sign("sha256", Buffer.from(text(verify.over)), contractKeyPair.privateKey).toString("base64");
      return callback({ ...timestampHeaders, [verify.header]: signature });
    }
    case "body_hmac": {
      const { signature } = body as { signature: { timestamp: string; token: string } };
      const made = createHmac("sha256", secret)
        .update(signature.timestamp + signature.token)
        .digest("hex");
      return callback({}, { ...(body as JsonObject), signature: { ...signature, signature: made } });
    }
    case "token":
      return callback({ [verify.name]: `${verify.prefix}${secret}` });
    case "aws_sns":
      return callback({}, signedBySns(body as Record<string, string>, amazon));
    default:
      throw new Error(`no built-in provider signs its callbacks with ${verify.kind}`);
  }
}

/** Signs a notification as Amazon SNS does. */
export function signedBySns(body: Readonly<Record<string, string>>, amazon: Identity): JsonObject {
  const names =
    body.Type === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const signed = names.flatMap((name) => (body[name] === undefined ? [] : [`${name}\n${body[name]}\n`])).join("");
  const signature = createSign("sha256").update(signed).sign(amazon.key, "base64");
  return { ...body, Signature: signature, SigningCertURL: certificateUrl };
}
