import { root } from "./account";

/** A value that a field can have: the id or the key of a record of the caller. */
export interface KnownValue {
  readonly value: string;
  /** The name of the record; empty if it has none. */
  readonly label: string;
  /** Counts the answers of this tab. Values of lists that the page read itself have 0. */
  readonly answer: number;
}

/** The known values of fields: those of lists of the API, and those that answers had. */
export interface Records {
  /** The known values of a field, those of the newest answer first. */
  of(field: string, slot: string | undefined): readonly KnownValue[];
  /** Reads the list of a slot, unless some of its values are known. */
  load(slot: string): Promise<void>;
  /** Remembers the records in an answer. `slot` has those that the operation returns. */
  remember(answer: unknown, slot: string | undefined): void;
  /** Forgets a record that was deleted. */
  forget(value: string): void;
}

const valuesMax = 8;
const depthMax = 4;
/** The fields that later requests need. */
const neededLater = /_(id|key|token)$|^(token|receipt)$/;

/** Opens the records of a workspace. They are kept until the tab is closed. */
export function openRecords(workspace: string): Records {
  const storageKey = `switchyard-records ${workspace}`;
  const stored = sessionStorage.getItem(storageKey);
  // By slot, and by the name of a field.
  const known = new Map<string, readonly KnownValue[]>(stored === null ? [] : JSON.parse(stored));
  const loading = new Map<string, Promise<void>>();

  function set(place: string, values: readonly KnownValue[]): void {
    known.set(place, unique(values).slice(0, valuesMax));
    sessionStorage.setItem(storageKey, JSON.stringify([...known]));
  }

  async function read(slot: string): Promise<void> {
    const [path = "", field = ""] = slot.split("#");
    const response = await fetch(new URL(`${path.slice(1)}?limit=${valuesMax}`, root)).catch(() => undefined);
    if (response === undefined || !response.ok) return;
    const { data } = (await response.json()) as { readonly data: readonly Record<string, unknown>[] };
    const records = data.toSorted((a, b) => Number(hasAdmissionKey(a)) - Number(hasAdmissionKey(b)));
    set(slot, [...(known.get(slot) ?? []), ...records.map((each) => toKnownValue(each, field, 0))]);
  }

  return {
    of(field, slot) {
      const values = [...(known.get(field) ?? []), ...(slot === undefined ? [] : (known.get(slot) ?? []))];
      return unique(values.toSorted((a, b) => b.answer - a.answer));
    },
    load(slot) {
      if (known.get(slot)?.length || slot.includes("{")) return Promise.resolve();
      const started = loading.get(slot) ?? read(slot).finally(() => loading.delete(slot));
      loading.set(slot, started);
      return started;
    },
    remember(answer, slot) {
      const number = 1 + Math.max(0, ...[...known.values()].flat().map((each) => each.answer));
      const records = (Array.isArray(answer) ? answer : [answer]).slice(0, valuesMax);
      const [, field = ""] = slot?.split("#") ?? [];
      const own = records
        .filter((each) => typeof each?.[field] === "string")
        .map((each) => toKnownValue(each, field, number));
      if (slot !== undefined && own.length > 0) set(slot, [...own, ...(known.get(slot) ?? [])]);
      for (const [name, value] of fieldsIn(records[0])) {
        set(name, [{ value, label: "", answer: number }, ...(known.get(name) ?? [])]);
      }
    },
    forget(value) {
      for (const [place, values] of known)
        set(
          place,
          values.filter((each) => each.value !== value),
        );
    },
  };
}

/** Whether a record is a pool that refuses the items of samples: its admission keys read attributes that they do not have. */
function hasAdmissionKey({ config }: { readonly config?: { readonly admission?: unknown } }): boolean {
  return /"key":"[^"]/.test(JSON.stringify(config?.admission ?? {}));
}

function toKnownValue(record: Record<string, unknown>, field: string, answer: number): KnownValue {
  const label = record.name ?? record.title ?? record.key ?? record.email ?? "";
  return { value: String(record[field]), label: typeof label === "string" ? label : "", answer };
}

function unique(values: readonly KnownValue[]): KnownValue[] {
  return [...Map.groupBy(values, ({ value }) => value).values()].map(([first, ...others]) => ({
    ...first!,
    label: first!.label || (others.find(({ label }) => label !== "")?.label ?? ""),
  }));
}

/** The fields of an answer that later requests need, by name. */
function* fieldsIn(value: unknown, depth = 0): Generator<readonly [name: string, value: string]> {
  if (typeof value !== "object" || value === null || depth > depthMax) return;
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== "string") yield* fieldsIn(Array.isArray(each) ? each[0] : each, depth + 1);
    else if (each !== "" && neededLater.test(name)) yield [name, each];
  }
}
