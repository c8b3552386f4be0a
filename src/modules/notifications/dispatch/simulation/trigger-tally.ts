import type { Channel } from "../../subscribers/index.ts";
import { channels } from "../domain/plan.ts";
import type { RecordedTrigger } from "./recorded-trigger-store.ts";
import type { MessageFate } from "./simulated-trigger.ts";

/** The messages of a trigger by channel and address. */
export type Fates = ReadonlyMap<string, MessageFate>;

/**
 * How a message changes. started: only sent with the changes. stopped: not sent any more. channel: sent on another channel
 * instead. integration: sent by another one. time: held until quiet hours end, or not held any more.
 */
export type MessageChange = "started" | "stopped" | "channel" | "integration" | "content" | "time";

interface Changed {
  readonly change: MessageChange;
  readonly key: string;
  readonly channel: Channel;
  readonly before: string;
  readonly after: string;
}

interface Counts {
  recorded: number;
  before: number;
  after: number;
}

const shownMax = 50;
const examplesMax = 20;
/** The outcome of a message that is not planned at all. */
const notPlanned = "none";

/** Counts what changes between two configurations, in memory that does not grow with the triggers. */
export class TriggerTally {
  #triggers = 0;
  #changed = 0;
  #reproduced = 0;
  #withoutPayload = 0;
  readonly #changes = new Map<MessageChange, number>();
  readonly #channels = new Map<string, Counts>();
  readonly #senders = new Map<string, Counts>();
  readonly #outcomes = new Map<string, { before: string; after: string; messages: number }>();
  readonly #examples: (Pick<RecordedTrigger, "transactionId" | "workflowKey" | "subscriberId"> &
    Omit<Changed, "key"> & { deliveryId: string })[] = [];

  add(trigger: RecordedTrigger, hasPayload: boolean, before: Fates, after: Fates): void {
    this.#triggers++;
    if (!hasPayload) this.#withoutPayload++;
    for (const message of trigger.messages) {
      if (message.isSent) this.#count("recorded", message.channel, message.integrationId || message.providerKey);
    }
    for (const { channel, sender, outcome } of before.values()) {
      if (outcome === "sent") this.#count("before", channel, sender);
    }
    for (const { channel, sender, outcome } of after.values()) {
      if (outcome === "sent") this.#count("after", channel, sender);
    }
    if (isReproduced(trigger, before)) this.#reproduced++;
    this.#countOutcomes(before, after);
    const changes = pairChannels(differencesOf(before, after));
    if (changes.length > 0) this.#changed++;
    for (const changed of changes) {
      this.#changes.set(changed.change, (this.#changes.get(changed.change) ?? 0) + 1);
      this.#addExample(trigger, changed);
    }
  }

  report() {
    const shiftOf = ({ before, after }: Counts) => Math.abs(after - before);
    return {
      triggers: this.#triggers,
      changed: this.#changed,
      reproduced: this.#reproduced,
      withoutPayload: this.#withoutPayload,
      changes: [...this.#changes].map(([change, messages]) => ({ change, messages })).sort(byMessages),
      channels: channels.flatMap((channel) => {
        const counts = this.#channels.get(channel);
        return counts === undefined ? [] : [{ channel, ...counts }];
      }),
      /** By the id of the integration, or the key of the built-in provider. */
      senders: [...this.#senders]
        .sort(([, one], [, other]) => shiftOf(other) - shiftOf(one) || other.after - one.after)
        .slice(0, shownMax),
      outcomes: [...this.#outcomes.values()].sort(byMessages).slice(0, shownMax),
      examples: this.#examples,
    };
  }

  #count(side: keyof Counts, channel: string, sender: string): void {
    countsOf(this.#channels, channel)[side]++;
    if (sender !== "") countsOf(this.#senders, sender)[side]++;
  }

  #countOutcomes(before: Fates, after: Fates): void {
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(key)?.outcome ?? notPlanned, after.get(key)?.outcome ?? notPlanned];
      if (was === is) continue;
      const pair = this.#outcomes.get(`${was} ${is}`);
      if (pair !== undefined) pair.messages++;
      else this.#outcomes.set(`${was} ${is}`, { before: was, after: is, messages: 1 });
    }
  }

  #addExample(
    { transactionId, workflowKey, subscriberId, messages }: RecordedTrigger,
    { key, ...changed }: Changed,
  ): void {
    if (this.#examples.length === examplesMax) return;
    const own = messages.find(({ channel, endpointId }) => `${channel} ${endpointId}` === key) ?? messages[0]!;
    this.#examples.push({ deliveryId: own.id, transactionId, workflowKey, subscriberId, ...changed });
  }
}

const byMessages = (one: { readonly messages: number }, other: { readonly messages: number }) =>
  other.messages - one.messages;

function countsOf(map: Map<string, Counts>, key: string): Counts {
  let counts = map.get(key);
  if (counts === undefined) {
    counts = { recorded: 0, before: 0, after: 0 };
    map.set(key, counts);
  }
  return counts;
}

/** Whether the same messages were really sent. */
function isReproduced({ messages }: RecordedTrigger, before: Fates): boolean {
  const recorded = new Set(
    messages.flatMap(({ channel, endpointId, isSent }) => (isSent ? [`${channel} ${endpointId}`] : [])),
  );
  const sent = [...before].filter(([, { outcome }]) => outcome === "sent");
  return sent.length === recorded.size && sent.every(([key]) => recorded.has(key));
}

/** The messages that change. */
function differencesOf(before: Fates, after: Fates): Changed[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key): Changed[] => {
    const [was, is] = [before.get(key), after.get(key)];
    const { channel } = (is ?? was)!;
    const change = changeOf(was, is);
    if (change === undefined) return [];
    const shown = (fate: MessageFate | undefined) =>
      change === "integration" ? fate!.sender : (fate?.outcome ?? notPlanned);
    if (change !== "content") return [{ change, key, channel, before: shown(was), after: shown(is) }];
    const parts = Object.keys(is!.content).filter((part) => is!.content[part] !== was!.content[part]);
    return [{ change, key, channel, before: "sent", after: `sent with another ${parts.join(", ")}` }];
  });
}

function changeOf(was: MessageFate | undefined, is: MessageFate | undefined): MessageChange | undefined {
  const [wasSent, isSent] = [was?.outcome === "sent", is?.outcome === "sent"];
  if (wasSent !== isSent) return isSent ? "started" : "stopped";
  if (!isSent) return undefined;
  if (was!.sender !== is!.sender) return "integration";
  if (Object.keys(is!.content).some((part) => is!.content[part] !== was!.content[part])) return "content";
  return was!.heldUntilMs === is!.heldUntilMs ? undefined : "time";
}

/** Replaces a message that stops and one on another channel that starts by one change of the channel. */
function pairChannels(changes: readonly Changed[]): readonly Changed[] {
  const started = changes.filter(({ change }) => change === "started");
  if (started.length === 0) return changes;
  const paired = changes.flatMap((each): Changed[] => {
    if (each.change === "started") return [];
    const at = each.change === "stopped" ? started.findIndex(({ channel }) => channel !== each.channel) : -1;
    if (at === -1) return [each];
    const [{ channel }] = started.splice(at, 1) as [Changed];
    return [{ ...each, change: "channel", before: each.channel, after: channel }];
  });
  return [...paired, ...started];
}
