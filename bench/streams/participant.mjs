// One participant's process: opens it, then handles the bench's calls one after another.
import { serveCalls } from "../participant-process.mjs";
import { runFor } from "../workflows/pacing.mjs";
import { followFor, replayFor } from "./pacing.mjs";
import { participants } from "./participants.mjs";
import { nextRecord } from "./record.mjs";

const { name, settings } = JSON.parse(process.argv[2]);
let opened;

const calls = {
  async open() {
    const { open } = await participants[name].load();
    opened = await open(settings);
    const [stream] = await opened.createStreams(1);
    return {
      follows: stream.follow !== undefined,
      batches: stream.appendMany !== undefined,
      replays: Object.keys(stream.replays ?? {}),
    };
  },
  /** Appends from concurrent callers, to the streams in turn. */
  async appendFor({ streams: count, ...pace }) {
    const streams = await opened.createStreams(count);
    let nth = 0;
    const lane = {
      ...{ name, ahead: 1 },
      async begin(caller) {
        await streams[nth++ % count].append(caller, nextRecord().record);
        return {};
      },
    };
    return runFor(lane, { ...pace, ...measured() });
  },
  /** Appends batches of records from concurrent callers. Rates and CPU times are those of records. */
  async appendBatchesFor({ streams: count, size, ...pace }) {
    const streams = await opened.createStreams(count);
    let nth = 0;
    const lane = {
      ...{ name, ahead: 1 },
      async begin(caller) {
        const records = Array.from({ length: size }, () => nextRecord().record);
        await streams[nth++ % count].appendMany(caller, records);
        return {};
      },
    };
    const { perSecond, cpuUs, ...measuredCalls } = await runFor(lane, { ...pace, ...measured() });
    const { own, service, database } = cpuUs;
    return {
      ...measuredCalls,
      perSecond: perSecond * size,
      cpuUs: { own: own / size, service: service / size, database: database / size },
    };
  },
  async followFor(pace) {
    const [stream] = await opened.createStreams(1);
    return followFor(stream, { ...pace, ...measured(), counts: opened.counts });
  },
  async replayFor({ replay, ...pace }) {
    const [stream] = await opened.createStreams(1);
    return replayFor(stream, replay, { ...pace, ...measured() });
  },
};

const measured = () => ({ processes: opened.processes ?? [], postmaster: settings.postmaster });

serveCalls(calls, () => opened?.close());
