import { fail, unreachable } from "../../errors/index.ts";
import type { Clock } from "../clock/clock.ts";
import { chainLine, type Head } from "./chain.ts";
import { type AuditEntry, type NumberedEntry, recoverOperation } from "./entry.ts";
import { lineBytesMax } from "./file-tail.ts";
import { createRedactor } from "./redact.ts";
import { createStreamSink, openFileSink, type Sink } from "./sink.ts";

/** The settings of the audit log. */
export interface AuditSettings {
  readonly sink: "stderr" | "stdout" | "file";
  /** The file, for the sink `file`. */
  readonly path?: string;
  readonly hashChain: boolean;
  readonly redactPii: boolean;
  /** Names of further members whose values are always redacted, in addition to those whose name implies a secret. */
  readonly redactFields?: readonly string[];
  readonly clock: Clock;
}

/** The audit log of this process. */
export interface Audit {
  /**
   * Writes one entry; resolves once the operating system has accepted it, so that it survives a kill of this process.
   * Entries are numbered in the order of the calls. A failed write rejects with UNAVAILABLE and leaves the log unchanged. The
   * time is now, unless the entry comes from another process.
   */
  append(entry: AuditEntry, time?: string): Promise<void>;
  /** Writes queued entries, syncs and closes the file. */
  close(): Promise<void>;
}

interface QueuedEntry {
  readonly time: string;
  readonly entry: AuditEntry;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Opens the audit log. A file is locked, its last line is verified, and its chain is continued. */
export async function openAudit(settings: AuditSettings): Promise<Audit> {
  return createAudit(await openSink(settings), settings);
}

async function openSink(settings: AuditSettings): Promise<Sink> {
  switch (settings.sink) {
    case "stderr":
      return createStreamSink(process.stderr);
    case "stdout":
      return createStreamSink(process.stdout);
    case "file":
      if (!settings.path)
        throw fail("FAILED_PRECONDITION", {
          public: "The audit sink `file` needs a path; set audit.path (for example: /var/log/switchyard/audit.log).",
        });
      return openFileSink(settings.path, settings.hashChain);
    default:
      return unreachable(settings.sink);
  }
}

/** Creates an audit log on any sink. */
export async function createAudit(sink: Sink, settings: Omit<AuditSettings, "sink" | "path">): Promise<Audit> {
  const redact = createRedactor({ pii: settings.redactPii, fields: settings.redactFields });
  let head = sink.head;
  let torn = sink.torn;
  let waiting: QueuedEntry[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;

  function line(entry: NumberedEntry, after: Head): { line: string; head: Head } {
    if (settings.hashChain) return chainLine(entry, after);
    return { line: JSON.stringify(entry), head: { seq: entry.seq, hash: "" } };
  }

  // Sequence numbers and hashes are committed only after the write succeeds, so that a failed write leaves no gap.
  async function writeGroup(group: readonly QueuedEntry[]): Promise<void> {
    let after = head;
    let text = "";
    if (torn !== undefined) {
      const note = line(toRecoveryEntry(after.seq + 1, isoTime(settings.clock), torn), after);
      text += `\n${note.line}\n`;
      after = note.head;
    }
    for (const { time, entry } of group) {
      const next = line(toNumberedEntry(after.seq + 1, time, entry), after);
      text += `${next.line}\n`;
      after = next.head;
    }
    await sink.write(text);
    head = after;
    torn = undefined;
  }

  // Writes are serial. Entries that arrive during a write are batched into the next one.
  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        await writeGroup(group);
        for (const { resolve } of group) resolve();
      } catch (cause) {
        const failure = fail("UNAVAILABLE", { public: "The audit log cannot be written.", cause });
        for (const { reject } of group) reject(failure);
      }
    }
    writing = undefined;
  }

  // A torn line is recorded immediately and not with the first entry, so that the file verifies from the start.
  if (torn !== undefined) await writeGroup([]);

  return {
    append(entry, time = isoTime(settings.clock)) {
      if (closed) return Promise.reject(fail("UNAVAILABLE", { public: "The audit log is closed." }));
      return new Promise((resolve, reject) => {
        // Redact and timestamp now: the caller may change its objects later, and the time is that of the action.
        waiting.push({ time, entry: redact(entry), resolve, reject });
        writing ??= drain();
      });
    },
    async close() {
      if (closed) return;
      closed = true;
      await writing;
      await sink.close();
    },
  };
}

function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

// Members are listed explicitly to fix their order in the line and to exclude unknown members.
function toNumberedEntry(seq: number, time: string, entry: AuditEntry): NumberedEntry {
  const line: NumberedEntry = {
    seq,
    time,
    tenant_id: entry.tenant_id,
    actor: entry.actor,
    actor_kind: entry.actor_kind,
    operation: entry.operation,
    resource: entry.resource,
    action: entry.action,
    outcome: entry.outcome,
    error_code: entry.error_code,
    request_id: entry.request_id,
    remote_address: entry.remote_address,
    details: entry.details,
  };
  return fitToLine(line);
}

// The maximum line length bounds the memory of readers and lets them find the last line without reading the whole file.
function fitToLine(line: NumberedEntry): NumberedEntry {
  const room = lineBytesMax - 4096;
  const bytes = Buffer.byteLength(JSON.stringify(line));
  if (bytes <= room) return line;
  const short = { ...line, details: { truncated: true, bytes } };
  if (Buffer.byteLength(JSON.stringify(short)) <= room) return short;
  const cut = Object.entries(short).map(([name, value]) => [
    name,
    typeof value === "string" ? value.slice(0, 1024) : value,
  ]);
  return Object.fromEntries(cut) as unknown as NumberedEntry;
}

function toRecoveryEntry(seq: number, time: string, torn: NonNullable<Sink["torn"]>): NumberedEntry {
  return {
    seq,
    time,
    tenant_id: "",
    actor: "service:audit",
    actor_kind: "service",
    operation: recoverOperation,
    resource: "audit_log",
    action: "recover",
    outcome: "succeeded",
    request_id: "",
    remote_address: "",
    details: { torn_bytes: torn.bytes, torn_sha256: torn.sha256 },
  };
}
