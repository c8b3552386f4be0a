/**
 * Crypto: encryption of stored secrets, signatures and digests.
 *
 * seal / open    encrypt a stored secret, bound to one record and field, and decrypt it
 * keyring        one active master key that seals, and retired keys that only open
 * keyed digest   a fast fingerprint that is meaningless outside this process
 * signer         proves that data issued earlier is returned unchanged
 * statement      a JSON value of a named type, signed by its author with an Ed25519 key and verified by others
 */
export { canonicalJson } from "./canonical-json.ts";
export { createSigner, type Signer } from "./hmac-signer.ts";
export { createKeyedDigest, type KeyedDigest } from "./keyed-digest.ts";
export { type Binding, createKeyring, type Keyring, type KeyringSettings } from "./keyring.ts";
export { type Reencryptable, type Reencryption, reencrypt, type StaleValue } from "./reencryption.ts";
export { SealError, type SealFailure } from "./seal-error.ts";
export { sealedTable } from "./sealed-table.ts";
export { type AwsCredentials, signAws } from "./sign-aws.ts";
export { type JwtParts, signJwt } from "./signed-jwt.ts";
export {
  createStatementKey,
  digestOfStatement,
  readPrivateKey,
  readPublicKey,
  type StatementKey,
  signStatement,
  verifyStatement,
} from "./signed-statement.ts";
export { newTenantSecret, tenantOfSecret } from "./tenant-secret.ts";
export { type SignedMessage, webhookHeaders } from "./webhook-signature.ts";
export { decrypt, encrypt, nonceBytes } from "./xchacha.ts";
