import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { CallError, restStreams, type StreamClient } from "./stream-client.ts";
import { publishWaiting, startRun } from "./stream-fixture.ts";

const appenders = 64;

let own: TenantFixture;
let db: Database;
let definition: string;
let clients: StreamClient[];

before(async () => {
  const first = await startService();
  const second: TestService = await startService(
    { "auth.bootstrap_api_key": first.adminKey, "api.max_concurrent_requests": "1000" },
    first.databaseUrl,
  );
  own = await newTenant(first);
  definition = await publishWaiting(own);
  db = openDatabase(first.databaseUrl, { maxConnections: 2 });
  afterFile(() => db.close());
  clients = [first, second].map(({ baseUrl }) => restStreams(baseUrl, own.key));
});

/** The result of one append. */
interface Attempt {
  readonly bytes: number;
  readonly sequence: number | undefined;
  readonly code: string;
}

interface Appends {
  readonly perAppender: number;
  readonly sizes: readonly number[];
  /** Appends again what was refused at the end of its wait, which a busy machine may outlast. */
  readonly isPatient?: boolean;
}

/** Has 64 appenders on two nodes append payloads of different sizes. */
async function appendConcurrently(
  stream: { readonly runId: string; readonly id: string },
  { perAppender, sizes, isPatient = false }: Appends,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  await Promise.all(
    Array.from({ length: appenders }, async (_, at) => {
      const client = clients[at % clients.length]!;
      for (let n = 0; n < perAppender; n++) {
        // A text of n characters has n + 2 bytes as JSON.
        const bytes = sizes[(at * 7 + n * 3) % sizes.length]!;
        const append = () =>
          client.append(stream.runId, stream.id, "x".repeat(bytes - 2)).catch((error) => {
            if (!(error instanceof CallError)) throw error;
            return error.code;
          });
        let sequence = await append();
        while (isPatient && sequence === "STREAM_BACKPRESSURE") sequence = await append();
        attempts.push(
          typeof sequence === "number" ? { bytes, sequence, code: "" } : { bytes, sequence: undefined, code: sequence },
        );
      }
    }),
  );
  return attempts;
}

async function newStream(pins: object): Promise<{ runId: string; id: string }> {
  const runId = await startRun(own, definition);
  return { runId, id: (await clients[0]!.create(runId, "audit", pins)).id };
}

/** Checks that the appended records have the sequences from 1 without gaps; returns their bytes. */
function checkSequences(attempts: readonly Attempt[]): number {
  const appended = attempts.filter(({ sequence }) => sequence !== undefined);
  const sequences = appended.map(({ sequence }) => sequence!).sort((a, b) => a - b);
  assert.deepEqual(
    sequences,
    sequences.map((_, at) => at + 1),
  );
  return appended.reduce((sum, { bytes }) => sum + bytes, 0);
}

const codesOf = (attempts: readonly Attempt[]) => new Set(attempts.map(({ code }) => code));

test("64 appenders on two nodes append exactly as many records as the stream may hold", async () => {
  const stream = await newStream({ ceilings: { total_items: 300 } });
  const attempts = await appendConcurrently(stream, { perAppender: 10, sizes: [4, 100, 1000] });
  checkSequences(attempts);
  assert.equal(attempts.filter(({ sequence }) => sequence !== undefined).length, 300);
  assert.deepEqual(codesOf(attempts), new Set(["", "STREAM_QUOTA_EXHAUSTED"]));
});

test("64 appenders on two nodes append bytes up to the total ceiling, and none is refused that fits", async () => {
  const ceiling = 100_003;
  const stream = await newStream({ ceilings: { total_bytes: ceiling } });
  const attempts = await appendConcurrently(stream, { perAppender: 12, sizes: [3, 17, 230, 999, 4001] });
  const bytes = checkSequences(attempts);
  assert.ok(bytes <= ceiling, `${bytes} bytes`);
  for (const { bytes: size, sequence } of attempts) {
    // The stream only grows: what fits now did fit when it was refused.
    if (sequence === undefined) assert.ok(bytes + size > ceiling, `${size} bytes were refused after ${bytes}`);
  }
  const { bytes: held } = await clients[1]!.get(stream.runId, stream.id);
  assert.equal(held, bytes);
});

test("64 appenders on two nodes leave exactly as much unread as is allowed", async () => {
  const pins = { ceilings: { unread_items: 120 }, on_unread_full: "reject" };
  const stream = await newStream(pins);
  for (const [round, acked] of [0, 120, 200].entries()) {
    await clients[round % 2]!.ack(stream.runId, stream.id, "c", acked);
    const attempts = await appendConcurrently(stream, { perAppender: 3, sizes: [4, 50] });
    assert.deepEqual(codesOf(attempts), new Set(["", "STREAM_BACKPRESSURE"]));
    const state = await clients[0]!.get(stream.runId, stream.id);
    assert.deepEqual([state.latest_sequence, state.unread_items], [acked + 120, 120]);
  }
});

test("64 appenders that block on two nodes get through behind a consumer, and never more is unread than allowed", async () => {
  const [itemsMax, bytesMax] = [40, 3000];
  const stream = await newStream({ ceilings: { unread_items: itemsMax, unread_bytes: bytesMax } });
  await clients[0]!.ack(stream.runId, stream.id, "c", 0);
  // The database itself refuses a commit with more unread than allowed.
  await db.sql.unsafe(`
    create function check_unread() returns trigger language plpgsql as $$
    declare
      acked record;
    begin
      select min(sequence) as sequence, min(cum_bytes) as cum_bytes into acked from workflow_stream_consumers
      where stream_id = new.stream_id;
      if new.last_sequence - acked.sequence > ${itemsMax} or new.last_cum_bytes - acked.cum_bytes > ${bytesMax} then
        raise exception 'too much is unread: % records', new.last_sequence - acked.sequence;
      end if;
      return new;
    end $$;
    create trigger check_unread after update on workflow_stream_heads for each row
      when (new.stream_id = '${stream.id}') execute function check_unread()`);
  const appending = appendConcurrently(stream, { perAppender: 5, sizes: [10, 90, 300], isPatient: true });
  let cursor = 0;
  for await (const { sequence } of clients[1]!.subscribe(stream.runId, stream.id, 0, AbortSignal.timeout(300_000))) {
    cursor = sequence;
    if (cursor % 16 === 0 || cursor > appenders * 5 - 40) {
      await clients[0]!.ack(stream.runId, stream.id, "c", cursor);
    } else {
      // Small ceilings by bytes need acknowledgements of fewer records.
      const { unread_bytes: unread } = await clients[0]!.get(stream.runId, stream.id);
      if (unread > bytesMax - 300) await clients[0]!.ack(stream.runId, stream.id, "c", cursor);
    }
    if (cursor === appenders * 5) break;
  }
  const attempts = await appending;
  assert.deepEqual(codesOf(attempts), new Set([""]));
  checkSequences(attempts);
});
