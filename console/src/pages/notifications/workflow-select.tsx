import { setQuery } from "../../core/router";

interface Props {
  readonly choices: readonly { readonly workflow_key: string; readonly name: string }[];
  readonly selected: string | undefined;
}

/** Selects the notification workflow that a page is about. The choice is kept in the address. */
export function WorkflowSelect({ choices, selected }: Props) {
  return (
    <select
      aria-label="Workflow"
      class="select"
      onChange={(event) => setQuery({ workflow: event.currentTarget.value })}
      value={selected ?? ""}
    >
      {choices.map(({ workflow_key, name }) => (
        <option key={workflow_key} selected={workflow_key === selected} value={workflow_key}>
          {name || workflow_key}
        </option>
      ))}
    </select>
  );
}
