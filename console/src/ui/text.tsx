import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button";
import { formatAgo, formatTime, words } from "./format";

const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 5_000);

/** A time, relative to now. The exact time is its title. */
export function Ago({ time }: { readonly time: string | undefined }) {
  if (time === undefined || time === "") return <span class="faint">–</span>;
  return (
    <time class="number" dateTime={time} title={formatTime(time)}>
      {formatAgo(time, Math.max(now.value, Date.now()))}
    </time>
  );
}

/** A whole id, which can be copied. It stands where a label says that it is one; elsewhere records are shown by their names. */
export function Id({ id }: { readonly id: string | undefined }) {
  if (id === undefined || id === "") return <span class="faint">–</span>;
  return (
    <span class="name mono" data-id title={id}>
      {id}
      <CopyIdButton id={id} name="the record" />
    </span>
  );
}

/** How good or bad something is. */
export type Tone = "ok" | "warn" | "bad" | "info" | "muted";

const tones: Readonly<Record<Tone, readonly string[]>> = {
  ok: "passed accepted healthy satisfied active routed completed succeeded success sent delivered published approved live pass connected ok equal running winner ship promoted executable verified admitted committed better published issued".split(
    " ",
  ),
  warn: "paused draining pending queued held waiting draft skipped grace invited degraded warn debounced quarantined canceling unknown outcome_unknown suspended expiring catalog_only unconfigured needs_account needs_reauth not_checked inconclusive partial".split(
    " ",
  ),
  bad: "unhealthy violated blocked failed dead dead_lettered rejected error disabled ejected exhausted revoked expired timeout cancelled canceled deny offline lost bad removed failing harmful missing stopped worse timed_out gone".split(
    " ",
  ),
  info: "leased in_flight processing ready scheduled deduplicated info superseded sandbox new continued".split(" "),
  muted: [],
};

function toneOf(status: string | undefined): Tone {
  const plain = (status ?? "").replace(/^[A-Z]+_(?=[A-Z])/, "").toLowerCase();
  const named = (word: string) => (Object.keys(tones) as Tone[]).find((tone) => tones[tone].includes(word));
  // "guardrails_passed" and "preflight_failed" have the colour of their last word.
  return named(plain) ?? named(plain.split("_").at(-1)!) ?? "muted";
}

/** A status in words, coloured by its tone. */
export function Status({ of: status, tone }: { readonly of: string | undefined; readonly tone?: Tone }) {
  if (status === undefined || status === "") return <span class="faint">–</span>;
  return (
    <span class="badge" data-tone={tone ?? toneOf(status)}>
      {words(status)}
    </span>
  );
}

/** A few short texts. */
export function Chips({ of: texts, none = "–" }: { readonly of: readonly string[]; readonly none?: string }) {
  if (texts.length === 0) return <span class="faint">{none}</span>;
  return (
    <span class="chips">
      {texts.map((text) => (
        <span class="badge" key={text}>
          {text}
        </span>
      ))}
    </span>
  );
}

/** Names and values of a record. */
export function Facts({ of: facts }: { readonly of: Readonly<Record<string, ComponentChildren>> }) {
  const shown = Object.entries(facts).filter(([, value]) => value || value === 0);
  return (
    <dl class="facts">
      {shown.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}

/** Text that can be copied. */
export function Code({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A region that scrolls must be reachable with the keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <span class="copy">
        <CopyButton label={label} text={text} />
      </span>
    </div>
  );
}

const copiedMs = 1_500;

/** Copies a text, and knows for a moment that it did. */
function useCopy(text: string): [isCopied: boolean, copy: (event: MouseEvent) => void] {
  const [isCopied, setCopied] = useState(false);
  const copy = async (event: MouseEvent) => {
    event.stopPropagation();
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), copiedMs);
  };
  return [isCopied, copy];
}

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, copy] = useCopy(text);
  return (
    <Button icon="copy" onClick={copy} small tone="quiet">
      {isCopied ? "Copied" : label}
    </Button>
  );
}

/** Copies the id of something that is shown by its name. It appears when the pointer or the keyboard is there. */
export function CopyIdButton({ id, name }: { readonly id: string; readonly name: string }) {
  const [isCopied, copy] = useCopy(id);
  return (
    <span class="copy-id">
      <Button icon={isCopied ? "check" : "copy"} label={`Copy the id of ${name}`} onClick={copy} small tone="quiet" />
    </span>
  );
}

/** A message to the person. */
export function Notice({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <div class="notice" data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
      <div>{children}</div>
    </div>
  );
}
