import type { ComponentChildren } from "preact";
import { formatCount } from "./format";
import type { Tone } from "./text";

interface CardProps {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  /** Whether the content touches the border, as tables do. */
  readonly flush?: boolean;
  readonly children: ComponentChildren;
}

/** A part of a page. */
export function Card({ title, actions, flush, children }: CardProps) {
  return (
    <section class="card">
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      <div class={flush ? "body flush" : "body"}>{children}</div>
    </section>
  );
}

interface StatProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly tone?: Tone;
  readonly href?: string;
}

/** One number with its name. */
export function Stat({ label, value, note, tone, href }: StatProps) {
  const content = (
    <>
      <span class="label">{label}</span>
      <span class="value">{typeof value === "number" ? formatCount(value) : (value ?? "–")}</span>
      {note !== undefined && <span class="note">{note}</span>}
    </>
  );
  return href === undefined ? (
    <div class="stat" data-tone={tone}>
      {content}
    </div>
  ) : (
    <a class="stat" data-tone={tone} href={href}>
      {content}
    </a>
  );
}

/** How much of something is used or done, from 0 to 1. A text beside it has the numbers. */
export function Meter({ share, tone }: { readonly share: number; readonly tone?: Tone }) {
  return (
    <div aria-hidden="true" class="meter" data-tone={tone}>
      <span style={{ width: `${Math.min(1, Math.max(0, share)) * 100}%` }} />
    </div>
  );
}

/** Place for content that is loading. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div aria-busy="true" class="stack">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <div class="skeleton" key={String(index)} style={{ width: `${92 - ((index * 17) % 45)}%` }} />
      ))}
    </div>
  );
}
