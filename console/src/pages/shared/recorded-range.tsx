import { query, setQuery } from "../../core/router";

const ranges = { "1h": ["Last hour", 1], "24h": ["Last day", 24], "7d": ["Last week", 168] } as const;
type Range = keyof typeof ranges;

function wantedRange(): Range {
  const wanted = query.value.get("range") ?? "";
  return wanted in ranges ? (wanted as Range) : "24h";
}

/** The chosen range of recorded work: a name for it, and its beginning. */
export function recordedRange(): { readonly name: string; readonly from: () => string } {
  const name = wantedRange();
  return { name, from: () => new Date(Date.now() - ranges[name][1] * 3_600_000).toISOString() };
}

/** Chooses which recorded work a simulation repeats. */
export function RecordedRange({ label }: { readonly label: string }) {
  const range = wantedRange();
  return (
    <div class="filters">
      <fieldset aria-label={label} class="segmented">
        {(Object.keys(ranges) as Range[]).map((each) => (
          <button aria-pressed={each === range} key={each} onClick={() => setQuery({ range: each })} type="button">
            {ranges[each][0]}
          </button>
        ))}
      </fieldset>
      <span class="soft">{label} is decided again. Nothing is stored or sent.</span>
    </div>
  );
}
