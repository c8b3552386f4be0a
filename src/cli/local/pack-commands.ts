import { readFile, writeFile } from "node:fs/promises";
import { readSignedPack, signPack, writeSignedPack } from "../../modules/connectors/index.ts";
import { createStatementKey, digestOfStatement, readPrivateKey } from "../../platform/crypto/index.ts";
import { isJsonObject, type JsonObject } from "../../platform/document/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Writes a new private key to a file and prints the public key that belongs to it. */
export async function packKeygenCommand(io: Io, file: string): Promise<number> {
  const { privateKeyPem, key } = createStatementKey();
  // The file must not exist, so that no key is ever overwritten.
  await writeFile(file, privateKeyPem, { mode: 0o600, flag: "wx" }).catch((cause: Error) => {
    throw new CliError(`${file} cannot be written: ${cause.message}`, exitCodes.failed, { cause });
  });
  io.out(`${JSON.stringify({ key_id: key.id, public_key: key.publicKey })}\n`);
  return exitCodes.ok;
}

/** Signs a pack and prints it as JSON. */
export async function packSignCommand(io: Io, file: string, { key: keyFile }: { key: string }): Promise<number> {
  const { privateKey, key } = readPrivateKey(await readText(keyFile));
  io.out(`${JSON.stringify(writeSignedPack(signPack(await readPack(file), privateKey, key)), null, 2)}\n`);
  return exitCodes.ok;
}

/** Checks the form and the digest of a pack. Only a service that knows the publisher can check its signature. */
export async function packCheckCommand(io: Io, file: string): Promise<number> {
  const { pack, document, digest, keyId } = readSignedPack(await readPack(file));
  const computed = digestOfStatement(document);
  if (digest !== "" && digest !== computed) {
    throw new CliError(
      `${file} does not match its digest: it was changed after it was exported or signed.`,
      exitCodes.failed,
    );
  }
  const { publisher, name, version, kind } = pack;
  const summary = { publisher, name, version, kind, records: pack.contents.length, digest: computed, key_id: keyId };
  io.out(`${JSON.stringify(summary)}\n`);
  return exitCodes.ok;
}

/** Reads a pack from a YAML or JSON file. */
async function readPack(file: string): Promise<JsonObject> {
  const { parse } = await import("yaml");
  const text = await readText(file);
  let value: unknown;
  try {
    // JSON is YAML too.
    value = parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    throw new CliError(`${file} is neither YAML nor JSON: ${(cause as Error).message}`, exitCodes.failed, { cause });
  }
  if (!isJsonObject(value)) throw new CliError(`${file} is not a pack.`, exitCodes.failed);
  // An export returns the pack as a member, and the API wraps it once more.
  const { pack } = isJsonObject(value.data) ? value.data : value;
  return isJsonObject(pack) ? pack : value;
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: Error) => {
    throw new CliError(`${file} cannot be read: ${cause.message}`, exitCodes.failed, { cause });
  });
}
