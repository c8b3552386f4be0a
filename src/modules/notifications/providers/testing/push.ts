import { createDecipheriv, createECDH, generateKeyPairSync, hkdfSync, randomBytes } from "node:crypto";
import webPush from "web-push";
import { connectionTo } from "./provider-fixture.ts";

/** VAPID keys of a push sender. */
export const vapidKeys = webPush.generateVAPIDKeys();

export function pushConnection() {
  return connectionTo(
    "web_push",
    { subject: "mailto:push@example.org", vapid_public_key: vapidKeys.publicKey },
    { vapid_private_key: vapidKeys.privateKey },
  );
}

/** The private key of a service account, PEM. */
export const serviceAccountKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();

/** A browser's push subscription: its address, and a function that decrypts a message to it (RFC 8291). */
export function pushSubscription(endpoint: string) {
  const own = createECDH("prime256v1");
  const p256dh = own.generateKeys();
  const auth = randomBytes(16);
  const keys = { p256dh: p256dh.toString("base64url"), auth: auth.toString("base64url") };
  return {
    identity: JSON.stringify({ endpoint, keys }),
    read(body: Buffer): string {
      const salt = body.subarray(0, 16);
      const senderKey = body.subarray(21, 21 + body[20]!);
      const sealed = body.subarray(21 + body[20]!);
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), p256dh, senderKey]);
      const shared = hkdfSync("sha256", own.computeSecret(senderKey), auth, info, 32);
      const derive = (name: string, bytes: number) =>
        Buffer.from(hkdfSync("sha256", Buffer.from(shared), salt, `Content-Encoding: ${name}\0`, bytes));
      const decipher = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
      decipher.setAuthTag(sealed.subarray(-16));
      const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
      return padded.subarray(0, padded.lastIndexOf(2)).toString("utf8");
    },
  };
}
