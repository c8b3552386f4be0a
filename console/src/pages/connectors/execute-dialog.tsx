import { createConnectorActionService, type ExecuteActionRequest } from "@client/gen/connector-action";
import type { ConnectorAction, ConnectorChoiceSource } from "@client/gen/connector-catalog";
import { useMemo, useState } from "preact/hooks";
import { href, navigate } from "../../core/router";
import { transport } from "../../core/transport";
import { pickConnection } from "../../palette/picker-sources";
import { FormDialog } from "../../ui/form";
import type { Field, Texts } from "../../ui/form/field";
import type { PickerSource } from "../../ui/form/picker";
import { type Schema, schemaFields } from "../../ui/form/schema-fields";

const executor = createConnectorActionService(transport);

interface Props {
  readonly action: ConnectorAction;
  readonly onClose: () => void;
}

/** Executes an action by hand. Fields whose values the account lists offer them, once a connection is chosen. */
export function ExecuteDialog({ action, onClose }: Props) {
  const [texts, enter] = useState<Texts>({});
  const connectionId = texts.connection_id ?? "";
  const sources = action.input_properties.flatMap(({ name, choices_from: from }) => (from ? [{ name, from }] : []));
  const needed = sources.flatMap(({ from }) => from.inputs.map((input) => [input, texts[`input.${input}`] ?? ""]));
  const pickers = useMemo(
    () => new Map(sources.map(({ name, from }) => [`input.${name}`, pickChoice(from, connectionId, texts)])),
    [connectionId, JSON.stringify(needed)],
  );
  const withChoices = (field: Field): Field => {
    const from = connectionId === "" ? undefined : pickers.get(field.name);
    return from === undefined ? field : { ...field, from };
  };
  return (
    <FormDialog
      done="The action was executed."
      fields={[
        { name: "connection_id", label: "Connection", from: pickConnection(action.provider_key) },
        ...schemaFields("input", "Input", action.input_schema as Schema | undefined).map(withChoices),
        { name: "dry_run", label: "Only show the request, do not send it", kind: "flag" },
      ]}
      initial={{ dry_run: true }}
      onClose={onClose}
      onEnter={enter}
      onSubmit={async (values) => {
        const request = { input: {}, ...values, key: action.key };
        const { execution } = await executor.execute(request as unknown as ExecuteActionRequest);
        navigate(href("connectors", { tab: "executions", open: execution?.id }));
      }}
      submit="Execute"
      title={action.title}
    />
  );
}

/** The choices of an account. They are read once for a connection and the inputs that they depend on. */
function pickChoice(from: ConnectorChoiceSource, connectionId: string, texts: Texts): PickerSource {
  const input = Object.fromEntries(from.inputs.map((name) => [name, texts[`input.${name}`] ?? ""]));
  return {
    kind: "",
    key: JSON.stringify([from.action_key, connectionId, input]),
    open() {
      const read = readChoices(from, connectionId, input);
      return async (text) => {
        const all = await read;
        const matches = all.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
        return { choices: matches.slice(0, 50), isIncomplete: false };
      };
    },
  };
}

async function readChoices(from: ConnectorChoiceSource, connectionId: string, input: Readonly<Record<string, string>>) {
  const request = { key: from.action_key, connection_id: connectionId, input };
  const { execution } = await executor.execute(request as unknown as ExecuteActionRequest);
  const items = valueAt(execution?.output, from.items);
  if (!Array.isArray(items)) return [];
  return items.map((item) => ({ value: String(valueAt(item, from.value)), label: String(valueAt(item, from.label)) }));
}

/** The value that a JSON Pointer leads to. */
function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split("/").slice(1);
  return names.reduce<unknown>((found, name) => {
    const member = name.replaceAll("~1", "/").replaceAll("~0", "~");
    return (found as Record<string, unknown> | null | undefined)?.[member];
  }, value);
}
