/**
 * Signs the built-in packs of `connectors/packs` with a private key that is not part of the repository:
 *
 *   node scripts/sign-packs.ts <file with the private key as PEM>
 *
 * It writes `signatures.json`, and adds the public key to `keys.json`.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packName, readPackFile, signPack } from "../src/modules/connectors/index.ts";
import { readPrivateKey } from "../src/platform/crypto/index.ts";

interface KeyEntry {
  readonly publisher: string;
  readonly public_key: string;
  readonly revoked?: boolean;
}

const folder = join(import.meta.dirname, "../connectors/packs");
const [keyFile] = process.argv.slice(2);
if (keyFile === undefined) {
  process.stderr.write("Usage: node scripts/sign-packs.ts <file with the private key as PEM>\n");
  process.exit(1);
}
const { privateKey, key } = readPrivateKey(await readFile(keyFile, "utf8"));

const signatures: Record<string, object> = {};
for (const file of (await readdir(folder)).filter((each) => each.endsWith(".yaml")).sort()) {
  const { pack, digest, signature, keyId } = signPack(await readPackFile(join(folder, file)), privateKey, key);
  signatures[`${packName(pack)}@${pack.version}`] = { digest, signature, key_id: keyId };
}
await writeJson("signatures.json", signatures);

const keys = await readFile(join(folder, "keys.json"), "utf8").then(JSON.parse, () => []);
if (!(keys as KeyEntry[]).some(({ public_key }) => public_key === key.publicKey)) {
  await writeJson("keys.json", [...(keys as KeyEntry[]), { publisher: "switchyard", public_key: key.publicKey }]);
}
process.stdout.write(`Signed ${Object.keys(signatures).length} packs with ${key.id}.\n`);

async function writeJson(name: string, value: unknown): Promise<void> {
  await writeFile(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}
