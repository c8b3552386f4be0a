import type { Duplex } from "node:stream";
import { Client, type ClientConfig, Query } from "pg";
import { clientOptions } from "./connection-settings.ts";

/** What a server says about itself over its replication protocol. */
interface ServerIdentity {
  /** Constant for the life of a cluster and of its copies. */
  readonly systemId: string;
  /** Rises whenever a copy of the cluster becomes a server of its own. */
  readonly timeline: number;
}

/** Where a base backup begins and ends in the write-ahead log, which it contains. */
export interface BaseBackupRange {
  readonly startLsn: string;
  readonly endLsn: string;
}

/** Receives the bytes of a base backup. The server pauses until the promise resolves. */
interface BaseBackupSink {
  /** The cluster's folder as a tar archive. */
  data(chunk: Buffer): Promise<void>;
  /** PostgreSQL's list of the files with their digests. */
  manifest(chunk: Buffer): void;
}

/** Connects to a server as `pg_basebackup` does. */
export async function openReplication(url: string) {
  const { config } = clientOptions(url, { applicationName: "switchyard backup" });
  const client = new Client({ ...config, pipeline: false, replication: "true" } as ClientConfig);
  // A lost connection fails the command that is running.
  client.on("error", () => {});
  await client.connect();
  return {
    async identify(): Promise<ServerIdentity> {
      const { rows } = await client.query<{ systemid: string; timeline: string }>("IDENTIFY_SYSTEM");
      return { systemId: rows[0]!.systemid, timeline: Number(rows[0]!.timeline) };
    },
    /** Copies the whole cluster while it is used. The server verifies the checksum of every page that it reads. */
    async copyCluster(sink: BaseBackupSink): Promise<BaseBackupRange> {
      // Keeps the log of the backup until the connection ends.
      await client.query(
        `CREATE_REPLICATION_SLOT backup_${process.pid}_${Date.now()} TEMPORARY PHYSICAL (RESERVE_WAL)`,
      );
      const query = new BaseBackupQuery(sink);
      client.query(query as unknown as Query);
      const [start, , end] = await query.results;
      await query.written;
      return { startLsn: start!.rows[0]!.recptr, endLsn: end!.rows[0]!.recptr };
    },
    /** Also ends a command that is running. */
    close: () => client.end(),
  };
}

interface Result {
  readonly rows: readonly { readonly recptr: string }[];
}

/** Options as `pg_basebackup` sends them; the log is included, so that every backup is whole by itself. */
const baseBackup =
  "BASE_BACKUP (LABEL 'switchyard', CHECKPOINT 'fast', WAL true, WAIT false, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')";

const QueryBase = Query as unknown as new (
  text: string,
  callback: (error: Error | null, results: readonly Result[]) => void,
) => object;

class BaseBackupQuery extends QueryBase {
  readonly results: Promise<readonly Result[]>;
  private readonly sink: BaseBackupSink;
  private readonly reject: (error: Error) => void;
  private isManifest = false;
  /** Resolves when the sink has everything so far; some messages arrive after the pause. */
  written: Promise<void> = Promise.resolve();
  private waiting = 0;

  constructor(sink: BaseBackupSink) {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Result[]>();
    super(baseBackup, (error, results) => (error === null || error === undefined ? resolve(results) : reject(error)));
    this.results = promise;
    this.sink = sink;
    this.reject = reject;
  }

  /** The first byte of a message says what it is: `n` begins an archive, `m` the manifest, `d` is data of the last begun. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }, { stream }: { readonly stream: Duplex }): void {
    const kind = String.fromCharCode(chunk[0]!);
    if (kind === "m") this.isManifest = true;
    if (kind !== "d") return;
    // The driver reuses the memory of a message.
    const data = Buffer.from(chunk.subarray(1));
    if (this.isManifest) {
      this.sink.manifest(data);
      return;
    }
    this.waiting++;
    stream.pause();
    this.written = this.written
      .then(() => this.sink.data(data))
      .then(() => {
        if (--this.waiting === 0) stream.resume();
      });
    this.written.catch((error: Error) => {
      this.reject(error);
      stream.destroy();
    });
  }
}
