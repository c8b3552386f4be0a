import type { Keyring, Reencryptable } from "../../../platform/crypto/index.ts";
import { refuseFile, type TableSum } from "./tenant-file.ts";

/** What stands in a file for a secret that was left out. No key opens it, so the secret counts as unreadable until it is set again. */
const leftOutText = "left out";

/** A row as a list of texts. */
type Row = (string | null)[];

/** The secrets of a table that were sealed with another key, and those that were not. */
export interface SecretCounts {
  sealed: number;
  leftOut: number;
}

/**
 * Replaces the ciphertexts of rows: opens them with one keyring and seals them with another. Without a keyring to seal, or when a
 * ciphertext cannot be opened, the secret is left out.
 */
export function createSealedRows(
  { bindingOf }: Pick<Reencryptable, "bindingOf">,
  columns: readonly string[],
  { open, seal }: { readonly open: Keyring | undefined; readonly seal: Keyring | undefined },
  /** The key id that is stored with a secret that was left out. */
  keyId: string,
) {
  const counts: SecretCounts = { sealed: 0, leftOut: 0 };
  const at = (column: string) => columns.indexOf(column);
  const [tenantAt, idAt, ciphertextAt, keyAt] = ["tenant_id", "id", "ciphertext", "key_id"].map(at) as [
    number,
    number,
    number,
    number,
  ];

  function reseal(row: Row): string | undefined {
    const ciphertext = row[ciphertextAt]!;
    if (open === undefined || seal === undefined || ciphertext === leftOutText) return undefined;
    const binding = bindingOf({ tenantId: row[tenantAt]!, id: row[idAt]!, ciphertext });
    try {
      return seal.seal(open.open(ciphertext, binding), binding);
    } catch {
      return undefined;
    }
  }

  return {
    counts,
    /** The same row with its secret sealed anew. */
    replace(line: Buffer): Buffer {
      const row = parseRow(line);
      if (row[ciphertextAt] === "") return line;
      const ciphertext = reseal(row);
      counts[ciphertext === undefined ? "leftOut" : "sealed"]++;
      row[ciphertextAt] = ciphertext ?? leftOutText;
      row[keyAt] = ciphertext === undefined ? keyId : (seal?.activeKeyId ?? keyId);
      return Buffer.from(`${JSON.stringify(row)}\n`);
    },
  };
}

function parseRow(line: Buffer): Row {
  try {
    return JSON.parse(line.toString());
  } catch (cause) {
    throw refuseFile("The file is damaged: it has a row that cannot be read.", cause);
  }
}

/** The number of rows in the tables of a file. */
export function rowsIn(tables: Readonly<Record<string, TableSum>>): number {
  return Object.values(tables).reduce((rows, table) => rows + table.rows, 0);
}
