import type { BulkOperation, BulkPreview } from "@client/gen/bulk-operation";
import { useTypedQuery } from "../../core/typed-query";
import { confirm } from "../../ui/dialog";
import { type Field, FormDialog, type Values } from "../../ui/form";
import { formatCount, messageOf, words } from "../../ui/format";
import { Notice } from "../../ui/text";

/** A bulk change that a person is about to start. */
export interface BulkChange {
  readonly title: string;
  readonly fields: readonly Field[];
  /** Counts the items that match. */
  readonly preview: (values: Values) => Promise<BulkPreview>;
  readonly start: (values: Values) => Promise<BulkOperation>;
  /** The effect on a number of items, such as "12 items", and whether it can be undone. */
  readonly consequence: (values: Values, items: string) => string;
  /** The name of the change on the button, such as "Cancel items". */
  readonly confirm: (values: Values) => string;
  /** A confirmation word, for changes that cannot be undone. */
  readonly typed: (values: Values) => string | undefined;
}

/** The fields that every change of many items ends with. */
const commonFields: readonly Field[] = [
  { name: "max_items", label: "At most", kind: "number", hint: "All that match when empty; oldest first.", row: "end" },
  { name: "reason", label: "Reason", row: "end" },
];

interface Props {
  readonly change: BulkChange;
  readonly onStarted: (operation: BulkOperation) => void;
  readonly onClose: () => void;
}

/** Asks which items to change, counts them while somebody types, and asks once more with the number before it starts. */
export function BulkDialog({ change, onStarted, onClose }: Props) {
  const ask = async (values: Values) => {
    const matching = await change.preview(values);
    confirm({
      title: `${change.confirm(values)}?`,
      consequence: change.consequence(values, itemsText(matching, values.max_items as number | undefined)),
      confirm: change.confirm(values),
      typed: change.typed(values),
      done: "The operation has started.",
      act: () => change.start(values).then(onStarted),
    });
  };
  return (
    <FormDialog
      fields={[...change.fields, ...commonFields]}
      onClose={onClose}
      onSubmit={ask}
      submit="Continue"
      title={change.title}
      wide
    >
      {(values) => <Matching preview={change.preview} values={values} />}
    </FormDialog>
  );
}

/** The number of items that match the entered values. */
function Matching({ preview, values }: { readonly preview: BulkChange["preview"]; readonly values: Values }) {
  const { data, error } = useTypedQuery(JSON.stringify(values), () => preview(values));
  if (error !== undefined) return <Notice tone="bad">{messageOf(error)}</Notice>;
  if (data === undefined) return <Notice tone="info">Counting the items…</Notice>;
  if (data.count === 0) return <Notice tone="warn">No item matches now.</Notice>;
  const states = Object.entries(data.count_by_state).map(
    ([state, count]) => `${formatCount(count)} ${words(state).toLowerCase()}`,
  );
  return (
    <Notice tone="info">
      <strong>{itemsText(data)}</strong> {data.count === 1 ? "matches" : "match"} now: {states.join(", ")}.
    </Notice>
  );
}

function itemsText({ count, capped }: BulkPreview, max = 0): string {
  const number = max > 0 ? Math.min(max, count) : count;
  const isOpen = capped && number === count;
  return `${formatCount(number)}${isOpen ? " or more" : ""} ${number === 1 ? "item" : "items"}`;
}
