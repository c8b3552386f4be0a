// The measuring loops of subscribers and of replays. All participants use the same loops.
import { pause } from "../workflows/pacing.mjs";
import { cpuMs } from "../workflows/processes.mjs";
import { createScanner, nextRecord } from "./record.mjs";

const warmupRecords = 20;
const receiveMsMax = 30_000;
const opensAtOnce = 50;

/**
 * Appends records one after another, each after all subscribers have received the one before. Returns the time from the
 * start of an append until a subscriber has its record, over all subscribers.
 */
export async function followFor(stream, { subscribers, records, processes, counts }) {
  let expected;
  let missing = 0;
  let received;
  let startedAt;
  const latencies = [];
  const receive = (number) => {
    if (number !== expected) return;
    latencies.push(performance.now() - startedAt);
    if (--missing === 0) received.resolve();
  };
  const ends = [];
  for (let open = 0; open < subscribers; open += opensAtOnce) {
    const some = Array.from({ length: Math.min(opensAtOnce, subscribers - open) }, () =>
      stream.follow(createScanner(receive)),
    );
    ends.push(...(await Promise.all(some)));
  }
  const sendOne = async () => {
    const { number, record } = nextRecord();
    received = Promise.withResolvers();
    expected = number;
    missing = subscribers;
    const timer = setTimeout(
      () => received.reject(new Error(`${missing} of ${subscribers} subscribers did not receive a record`)),
      receiveMsMax,
    );
    startedAt = performance.now();
    const appended = stream.append(0, record).then(() => performance.now() - startedAt);
    await received.promise;
    const lastMs = performance.now() - startedAt;
    clearTimeout(timer);
    return { lastMs, appendMs: await appended };
  };
  for (let nth = 0; nth < warmupRecords; nth++) await sendOne();
  latencies.length = 0;
  const countsBefore = await counts?.();
  const cpuBefore = cpuMs(processes);
  const sent = [];
  for (let nth = 0; nth < records; nth++) {
    sent.push(await sendOne());
    await pause(0.002);
  }
  const cpuUs = ((cpuMs(processes) - cpuBefore) * 1000) / records;
  const countsAfter = await counts?.();
  for (const end of ends) end();
  return {
    ...{ records, deliveries: latencies.length, cpuUs },
    ...{ p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) },
    appendP50Ms: percentile(
      sent.map(({ appendMs }) => appendMs),
      0.5,
    ),
    lastP50Ms: percentile(
      sent.map(({ lastMs }) => lastMs),
      0.5,
    ),
    ...(countsAfter !== undefined && {
      encodesPerRecord: (countsAfter.made - countsBefore.made) / records,
      sentPerRecord: (countsAfter.sent - countsBefore.sent) / records,
    }),
  };
}

const fillers = 256;

/** Fills a stream, then reads all of it again and again for some seconds with one reader. */
export async function replayFor(stream, replay, { records, seconds, processes }) {
  const all = Array.from({ length: records }, () => nextRecord().record);
  if (stream.fill !== undefined) {
    await stream.fill(all);
  } else {
    let next = 0;
    const filler = async (_, caller) => {
      while (next < records) await stream.append(caller, all[next++]);
    };
    await Promise.all(Array.from({ length: fillers }, filler));
  }
  const once = async () => {
    let found = 0;
    await stream.replays[replay](
      createScanner(() => found++),
      records,
    );
    if (found !== records) throw new Error(`a replay returned ${found} of ${records} records`);
  };
  await once();
  const cpuBefore = cpuMs(processes);
  const startedAt = performance.now();
  let times = 0;
  do {
    await once();
    times++;
  } while (performance.now() < startedAt + seconds * 1000);
  const read = times * records;
  return {
    ...{ records, times, errors: 0 },
    perSecond: (read / (performance.now() - startedAt)) * 1000,
    cpuUs: ((cpuMs(processes) - cpuBefore) * 1000) / read,
  };
}

function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
