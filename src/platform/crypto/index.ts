/**
 * Crypto: what the service does with keys of its own.
 *
 * seal / open    encrypt a stored secret to one record and field, and get it back
 * keyring        one active key that seals, and retired ones that only open
 * keyed digest   a fast fingerprint that means nothing outside this process
 * signer         proves that a text handed out earlier comes back unchanged
 */
export { canonicalJson } from "./canonical-json.ts";
export { createSigner, type Signer } from "./hmac-signer.ts";
export { createKeyedDigest, type KeyedDigest } from "./keyed-digest.ts";
export { type Binding, createKeyring, type Keyring, type KeyringSettings } from "./keyring.ts";
export { type Reencryptable, type Reencryption, reencrypt, type StaleValue } from "./reencryption.ts";
export { SealError, type SealFault } from "./seal-error.ts";
export { type SignedMessage, webhookHeaders } from "./webhook-signature.ts";
