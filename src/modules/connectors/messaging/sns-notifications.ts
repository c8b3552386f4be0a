import { createVerify, X509Certificate } from "node:crypto";
import { type Failure, fail } from "../../../errors/index.ts";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { isJsonObject, type Json } from "../../../platform/document/index.ts";
import { EgressError } from "../../../platform/egress/index.ts";
import type { GuardedHttp, Provider } from "../manifests/index.ts";

/** Which members are signed, in this order. Absent ones are left out. */
const signedMembers: Readonly<Record<string, readonly string[]>> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
};
const digests: Readonly<Record<string, string>> = { "1": "sha1", "2": "sha256" };

const certificateUrl = /^https:\/\/sns\.[a-z0-9-]+\.amazonaws\.com\/SimpleNotificationService-[A-Za-z0-9]+\.pem$/;
const subscribeUrl = /^https:\/\/sns\.[a-z0-9-]+\.amazonaws\.com\/\?/;

/** Amazon repeats a notification for about an hour. Its id tells a repeated one. */
const ageMsMax = 24 * 3_600_000;
const certificatesMax = 50;
/** Failures of a request that a repeat would have as well. */
const permanentReasons: ReadonlySet<string> = new Set(["denied", "invalid_url"]);
const limits = { timeoutMs: 10_000, bytesMax: 64 * 1024 };

interface Dependencies {
  readonly clock: Clock;
  readonly http: GuardedHttp;
}

/** The result of a notification. `handled`: it was only about the subscription. */
type SnsResult = "event" | "handled" | "refused";

/** Verifies notifications of Amazon SNS, and confirms subscriptions of the expected topic. */
export type SnsNotifications = ReturnType<typeof createSnsNotifications>;

/** Creates the verification. Certificates are kept in memory. */
export function createSnsNotifications({ clock, http }: Dependencies) {
  const certificates = new BoundedCache<string, X509Certificate>(certificatesMax);

  /** Calls Amazon. Throws UNAVAILABLE if it does not answer now: Amazon repeats only notifications that get a server error. */
  async function get(provider: Provider, url: string): ReturnType<GuardedHttp["send"]> {
    const answer = await http.send(provider, {}, { method: "GET", url, headers: {} }, limits).catch((cause) => {
      throw cause instanceof EgressError && !permanentReasons.has(cause.reason) ? unavailable(cause) : cause;
    });
    if (answer.status >= 500 || answer.status === 429)
      throw unavailable(new Error(`${url} returned ${answer.status}.`));
    return answer;
  }

  async function certificateAt(provider: Provider, url: string): Promise<X509Certificate | undefined> {
    const known = certificates.get(url);
    if (known !== undefined) return known;
    const answer = await get(provider, url);
    if (answer.status !== 200) return undefined;
    const certificate = parseCertificate(answer.body);
    if (certificate === undefined) return undefined;
    certificates.set(url, certificate);
    return certificate;
  }

  async function isSigned(provider: Provider, text: (name: string) => string): Promise<boolean> {
    const members = signedMembers[text("Type")];
    const digest = digests[text("SignatureVersion")];
    if (members === undefined || digest === undefined || !certificateUrl.test(text("SigningCertURL"))) return false;
    const certificate = await certificateAt(provider, text("SigningCertURL"));
    if (certificate === undefined) return false;
    const signed = members.flatMap((name) => (text(name) === "" ? [] : [`${name}\n${text(name)}\n`])).join("");
    try {
      return createVerify(digest).update(signed).verify(certificate.publicKey, text("Signature"), "base64");
    } catch {
      // Not a signature.
      return false;
    }
  }

  return {
    async verify(provider: Provider, topic: string, body: Json): Promise<SnsResult> {
      if (!isJsonObject(body)) return "refused";
      const text = (name: string) => (typeof body[name] === "string" ? body[name] : "");
      const ageMs = Math.abs(clock.now() - Date.parse(text("Timestamp")));
      // Anyone can own a topic that Amazon signs for.
      if (text("TopicArn") !== topic || !(ageMs <= ageMsMax)) return "refused";
      if (!(await isSigned(provider, text))) return "refused";
      if (text("Type") === "Notification") return "event";
      if (text("Type") === "SubscriptionConfirmation" && subscribeUrl.test(text("SubscribeURL"))) {
        await get(provider, text("SubscribeURL"));
      }
      return "handled";
    },
  };
}

function unavailable(cause: Error): Failure {
  const message = "The notification cannot be verified or handled at the moment: Amazon cannot be reached.";
  return fail("UNAVAILABLE", { public: message, cause });
}

/** Undefined if it is not a certificate, such as the page of a server under maintenance. */
function parseCertificate(pem: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
