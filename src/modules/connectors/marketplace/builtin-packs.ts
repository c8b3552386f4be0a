import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readPublicKey } from "../../../platform/crypto/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import { packName, type SignedPack } from "./domain/pack.ts";
import { compareVersions } from "./domain/versions.ts";
import { readSignedPack, type TrustedKey, verifyPack } from "./pack-signature.ts";

/** The packs that ship with the service. */
export interface BuiltinPacks {
  readonly keys: readonly TrustedKey[];
  /** All versions, newest first. */
  versions(publisher: string, name: string): readonly SignedPack[];
  /** The newest version of every pack. */
  readonly newest: readonly SignedPack[];
}

interface KeyFile {
  readonly publisher: string;
  readonly public_key: string;
  readonly revoked?: boolean;
}

interface Dependencies {
  /** A folder with a YAML file for each version, `keys.json` and `signatures.json`. */
  readonly folder: string;
  readonly log: Pick<Log, "error">;
}

/** The folder of the packs in the service's own files. */
export const builtinFolder = join(import.meta.dirname, "../../../../connectors/packs");

/** Publishers that no tenant can register. */
export function isReservedPublisher(publisher: string): boolean {
  return publisher.startsWith("switchyard");
}

/**
 * Creates a function that loads the built-in packs on first use. A pack without a valid signature is logged and left out, so
 * that a damaged file does not stop the service.
 */
export function createBuiltinPacks({ folder, log }: Dependencies): () => Promise<BuiltinPacks> {
  let loaded: Promise<BuiltinPacks> | undefined;
  return () => {
    loaded ??= load(folder, log).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

async function load(folder: string, log: Dependencies["log"]): Promise<BuiltinPacks> {
  const keys = (await readJson<readonly KeyFile[]>(join(folder, "keys.json"))).map(toKey);
  const signatures = await readJson<Record<string, JsonObject>>(join(folder, "signatures.json"));
  const packs: SignedPack[] = [];
  for (const file of (await readdir(folder)).filter((each) => each.endsWith(".yaml")).sort()) {
    try {
      const document = await readPackFile(join(folder, file));
      const pack = readSignedPack({
        ...document,
        ...signatures[`${document.publisher}/${document.name}@${document.version}`],
      });
      verifyPack(pack, keys);
      packs.push(pack);
    } catch (error) {
      log.error({ err: error, file }, "built-in pack left out");
    }
  }
  const byName = Map.groupBy(packs, ({ pack }) => packName(pack));
  for (const versions of byName.values()) versions.sort((a, b) => compareVersions(b.pack.version, a.pack.version));
  return {
    keys,
    versions: (publisher, name) => byName.get(packName({ publisher, name })) ?? [],
    newest: [...byName.values()].map((versions) => versions[0]!),
  };
}

/** Reads the unsigned document of a pack from a YAML file. */
export async function readPackFile(path: string): Promise<JsonObject> {
  // The parser is loaded only when packs are read, for a fast start.
  const { parse } = await import("yaml");
  return parse(await readFile(path, "utf8"), { maxAliasCount: 0 }) as JsonObject;
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8")) as T;
}

function toKey({ publisher, public_key, revoked = false }: KeyFile): TrustedKey {
  return { ...readPublicKey(public_key), publisher, revoked };
}
