import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Sql } from "../db/index.ts";

/** The bytes of a volume. */
export interface VolumeBytes {
  readonly used: number;
  /** What this process may still write. */
  readonly free: number;
}

/** A place with limited room for what the service stores. */
export interface Volume {
  /** The value of the label in metrics. */
  readonly name: "data" | "objects" | "database";
  readonly holds: "rows" | "objects";
  measure(): Promise<VolumeBytes>;
}

/** Reads the room of the file system of a folder. */
export type ReadFolder = (folder: string) => Promise<{ bsize: number; blocks: number; bfree: number; bavail: number }>;

/** The disk of a folder, which need not exist yet. */
export function diskVolume(name: "data" | "objects", folder: string, read: ReadFolder = statfs): Volume {
  const readExisting = async (path: string): ReturnType<ReadFolder> => {
    try {
      return await read(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
      return readExisting(dirname(path));
    }
  };
  return {
    ...{ name, holds: name === "objects" ? "objects" : "rows" },
    async measure() {
      const { bsize, blocks, bfree, bavail } = await readExisting(folder);
      return { used: (blocks - bfree) * bsize, free: bavail * bsize };
    },
  };
}

/** A database whose disk cannot be seen: its size, compared with what it may take. */
export function databaseVolume(sql: Sql, bytesMax: number): Volume {
  return {
    ...{ name: "database", holds: "rows" },
    async measure() {
      const [row] = await sql<[{ used: number }]>`select pg_database_size(current_database())::float8 as used`;
      return { used: row.used, free: Math.max(0, bytesMax - row.used) };
    },
  };
}
