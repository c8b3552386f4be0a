import { useId, useMemo, useState } from "preact/hooks";
import { nameOf } from "../../core/names";
import { useTypedQuery } from "../../core/typed-query";
import { Button } from "../button";
import { Icon } from "../icon";
import { Name } from "../name";

/** A record that can be chosen. */
export interface PickerChoice {
  /** What the request needs: an id or a key. */
  readonly value: string;
  readonly label: string;
}

export interface PickerMatches {
  readonly choices: readonly PickerChoice[];
  /** Whether there may be more than were searched. */
  readonly isIncomplete: boolean;
}

/** Where somebody chooses from. */
export interface PickerSource {
  /** The kind of the records, such as `recipient`. */
  readonly kind: string;
  /** Tells apart what is found by sources of the same kind. */
  readonly key?: string;
  /** Begins a search, which reuses what it has read. An empty text finds the first records. */
  open(): (text: string) => Promise<PickerMatches>;
}

interface Props {
  readonly from: PickerSource;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly attributes: Readonly<Record<string, string | boolean | undefined>>;
  /** What is shown while nothing is chosen. */
  readonly empty?: string;
}

/** Whoever has an id at hand can paste it. */
const wholeId = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Chooses a record by a part of its name. */
export function Picker({ from, value, set, attributes, empty = "Search by name" }: Props) {
  const find = useMemo(() => from.open(), [from]);
  /** What is being typed; undefined while the chosen record is shown. */
  const [typed, setTyped] = useState<string>();
  const [at, setAt] = useState(0);
  const listId = useId();
  const text = typed?.trim() ?? "";
  const { data } = useTypedQuery(typed === undefined ? undefined : `${from.key ?? from.kind} ${text}`, () =>
    find(text),
  );
  const choices = typed === undefined ? [] : (data?.choices ?? []);
  const choose = (chosen: string | undefined) => {
    if (chosen !== undefined) set(chosen);
    setTyped(undefined);
  };
  const leave = () => {
    if (typed === undefined) return;
    const exact = choices.find(({ label }) => label.toLowerCase() === text.toLowerCase())?.value;
    choose(text === "" || wholeId.test(text) ? text : exact);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && typed === undefined) setTyped("");
    else if (event.key === "ArrowDown") setAt(Math.min(choices.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter" && typed !== undefined)
      choose(choices[at]?.value ?? (wholeId.test(text) ? text : undefined));
    else if (event.key === "Escape" && typed !== undefined) setTyped(undefined);
    else return;
    event.preventDefault();
  };
  const shown = typed ?? (value === "" ? "" : (nameOf(value, from.kind)?.name ?? value));
  return (
    <div class="picker">
      <input
        {...attributes}
        aria-activedescendant={choices.length > 0 ? `${listId}-${at}` : undefined}
        aria-autocomplete="list"
        aria-controls={listId}
        aria-expanded={typed !== undefined}
        autocomplete="off"
        class="input"
        onBlur={leave}
        onClick={() => setTyped(typed ?? "")}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
        placeholder={value === "" ? empty : (nameOf(value, from.kind)?.name ?? value)}
        role="combobox"
        value={shown}
      />
      <div class="options" hidden={typed === undefined} id={listId} role="listbox" aria-label="Choices">
        {choices.map((choice, index) => (
          <button
            aria-selected={index === at}
            id={`${listId}-${index}`}
            key={choice.value}
            onClick={() => choose(choice.value)}
            // The input keeps the focus, so that a click does not end the search before it chooses.
            onMouseDown={(event) => event.preventDefault()}
            role="option"
            tabIndex={-1}
            type="button"
          >
            {choice.label}
            {choice.value === value && <Icon name="check" />}
          </button>
        ))}
      </div>
      {typed !== undefined && (
        <span class="hint" role="status">
          {noteOn(data, text)}
        </span>
      )}
    </div>
  );
}

function noteOn(data: PickerMatches | undefined, text: string): string {
  if (data === undefined) return "Searching…";
  if (data.choices.length === 0) return text === "" ? "There is none yet." : "Nothing has this name.";
  return data.isIncomplete ? "Type more of the name to find others." : "";
}

/** Chooses several records. The text is their values, separated by commas. */
export function ManyPicker({ value, set, ...picker }: Props) {
  const chosen = value.split(/,\s*/).filter(Boolean);
  const keep = (values: readonly string[]) => set([...new Set(values)].join(", "));
  return (
    <>
      <Picker {...picker} set={(added) => keep([...chosen, ...[added].filter(Boolean)])} value="" />
      <span class="chips">
        {chosen.map((each) => (
          <span class="badge" key={each}>
            <Name id={each} kind={picker.from.kind} otherwise={each} plain />
            <Button
              icon="close"
              label="Remove"
              onClick={() => keep(chosen.filter((one) => one !== each))}
              small
              tone="quiet"
            />
          </span>
        ))}
      </span>
    </>
  );
}
