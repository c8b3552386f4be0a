import type { Pool } from "@client/gen/pool";
import { type CreateRuleRequest, createRuleService, type Rule, type UpdateRuleRequest } from "@client/gen/rule";
import { useMemo, useState } from "preact/hooks";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { pickExperimentKey, pickPool, pickRecipient } from "../../palette/picker-sources";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty, samplesOf } from "../../ui/empty";
import { type Field, FormDialog, type Texts, type Values } from "../../ui/form";
import { words } from "../../ui/format";
import { Name } from "../../ui/name";
import { ListTable } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Status } from "../../ui/text";
import { toastError } from "../../ui/toast";
import { ConditionLab } from "./condition-lab";

const rules = createRuleService(transport);

const actionTypes = [
  "route",
  "require",
  "prefer",
  "set_priority",
  "redirect_pool",
  "hold",
  "reject",
  "assign_experiment",
];

const columns: readonly Column<Rule>[] = [
  { title: "Order", width: "76px", isNumber: true, value: ({ priority }) => priority },
  { title: "Name", width: "170px", value: ({ name }) => name },
  {
    title: "When",
    value: ({ condition }) => condition || "always",
    render: ({ condition }) => <code>{condition || "always"}</code>,
  },
  {
    title: "Then",
    width: "190px",
    value: ({ action }) => words(action?.type),
    render: ({ action }) => <Action of={action} />,
  },
  {
    title: "State",
    width: "104px",
    value: ({ enabled }) => (enabled ? "active" : "disabled"),
    render: ({ enabled }) => <Status of={enabled ? "active" : "disabled"} tone={enabled ? "ok" : "muted"} />,
  },
];

/** What a rule does, with what it names. */
function Action({ of: action }: { readonly of: Rule["action"] }) {
  const { type, recipient_id: recipientId, pool_id: poolId } = action ?? {};
  if (type === "route")
    return (
      <>
        Route to <Name id={recipientId} kind="recipient" />
      </>
    );
  if (type === "redirect_pool")
    return (
      <>
        Redirect to <Name id={poolId} kind="pool" />
      </>
    );
  return <>{words(type)}</>;
}

/** The rules of a pool, in the order in which they apply. */
export function Rules({ pool }: { readonly pool: Pool }) {
  const [edited, edit] = useState<Rule | "new">();
  const list = useList(`rules ${pool.id}`, (page) => rules.list({ ...page, pool_id: pool.id }), { live: ["rule."] });
  const toggle = async (rule: Rule) => {
    try {
      await rules.update({ rule_id: rule.id, enabled: !rule.enabled, record_version: rule.record_version });
      list.refresh();
    } catch (error) {
      toastError(error);
    }
  };
  const remove = (rule: Rule) =>
    confirm({
      title: `Delete ${rule.name}?`,
      consequence:
        "Items that are routed from now on are not affected by this rule. Decisions of the past keep their trace.",
      confirm: "Delete rule",
      done: "The rule was deleted.",
      act: () => rules.delete({ rule_id: rule.id }).then(list.refresh),
    });
  return (
    <>
      <div class="filters">
        <span class="soft">
          Rules apply from the lowest order to the highest. A rule without a condition always applies.
        </span>
        <span class="spacer" />
        {can("rule:write") && (
          <Button icon="plus" onClick={() => edit("new")}>
            Add rule
          </Button>
        )}
      </div>
      <ListTable
        columns={columns}
        empty={
          <Empty
            samples={samplesOf({
              path: `/api/pools/${pool.id}/rules`,
              body: { name: "german", condition: `item.attributes.language == "de"`, action: { type: "prefer" } },
              cli: `rule create ${pool.id} --name german --condition 'item.attributes.language == "de"' --action '{"type": "prefer"}'`,
              sdk: `rules.create({ pool_id: "${pool.id}", name: "german", condition: 'item.attributes.language == "de"', action: { type: "prefer" } })`,
            })}
            title="No rule"
          >
            Without rules, every recipient with capacity is eligible, and the strategy chooses. A rule narrows the
            choice, changes the priority, holds, redirects or rejects.
          </Empty>
        }
        keyOf={({ id }) => id}
        label={`Rules of ${pool.name}`}
        list={list}
        rowActions={
          can("rule:write")
            ? (rule) => (
                <>
                  <Button onClick={() => edit(rule)} small tone="quiet">
                    Edit
                  </Button>
                  <Button onClick={() => toggle(rule)} small tone="quiet">
                    {rule.enabled ? "Disable" : "Enable"}
                  </Button>
                  {can("rule:delete") && (
                    <Button onClick={() => remove(rule)} small tone="quiet">
                      Delete
                    </Button>
                  )}
                </>
              )
            : undefined
        }
        rowActionsWidth="210px"
      />
      {edited !== undefined && (
        <RuleDialog
          onClose={() => edit(undefined)}
          pool={pool}
          refresh={list.refresh}
          rule={edited === "new" ? undefined : edited}
        />
      )}
    </>
  );
}

interface RuleDialogProps {
  readonly pool: Pool;
  readonly rule: Rule | undefined;
  readonly refresh: () => void;
  readonly onClose: () => void;
}

/** The actions whose condition is about each recipient, so that they have no field of their own. */
const choiceMeanings: Readonly<Record<string, string>> = {
  require: 'Only recipients for whom the condition holds get the item, such as recipient.skills["german"] >= 3.',
  prefer:
    'Recipients for whom the condition holds get the item first, such as recipient.skills["german"] >= 3. The others get it when none of them can.',
};

const isAction = (type: string) => (texts: Texts) => texts["action.type"] === type;

const actionFields = (poolId: string): readonly Field[] => [
  {
    name: "action.type",
    label: "Then",
    kind: "choice",
    required: true,
    row: "action",
    choices: actionTypes.map((value) => ({ value, label: words(value) })),
    below: ({ action }) => {
      const meaning = choiceMeanings[(action as Values)?.type as string];
      return meaning && <p class="soft">{meaning}</p>;
    },
  },
  { name: "priority", label: "Order", kind: "number", row: "action", hint: "Lower applies first." },
  {
    name: "action.recipient_id",
    label: "Recipient",
    required: true,
    from: pickRecipient(poolId),
    appliesTo: isAction("route"),
  },
  { name: "action.pool_id", label: "Pool", required: true, from: pickPool, appliesTo: isAction("redirect_pool") },
  { name: "action.priority", label: "Priority", kind: "number", required: true, appliesTo: isAction("set_priority") },
  { name: "action.hold_s", label: "Hold for", kind: "duration", required: true, appliesTo: isAction("hold") },
  { name: "action.reason", label: "Message to the caller", appliesTo: isAction("reject") },
  {
    name: "action.experiment_key",
    label: "Experiment",
    required: true,
    from: pickExperimentKey,
    appliesTo: isAction("assign_experiment"),
  },
  { name: "stop_on_match", label: "Skip later rules when it matches", kind: "flag" },
];

const fieldsOf = (poolId: string): readonly Field[] => [
  { name: "name", label: "Name", required: true, placeholder: "german speakers first" },
  {
    name: "condition",
    label: "When",
    hint: `A condition in CEL over item, pool and now, such as item.attributes.language == "de"; require and prefer also have recipient. Every item when empty.`,
    control: ({ id, text, set }) => <ConditionLab id={id} onInput={set} text={text} />,
  },
  ...actionFields(poolId),
];

function RuleDialog({ pool, rule, refresh, onClose }: RuleDialogProps) {
  const fields = useMemo(() => fieldsOf(pool.id), [pool.id]);
  const save = async (values: Record<string, unknown>) => {
    if (rule === undefined) await rules.create({ ...values, pool_id: pool.id } as unknown as CreateRuleRequest);
    else {
      const change = { condition: "", ...values, rule_id: rule.id, record_version: rule.record_version };
      await rules.update(change as UpdateRuleRequest);
    }
    refresh();
  };
  return (
    <FormDialog
      done={rule === undefined ? "The rule was added." : "The rule was changed."}
      fields={fields}
      initial={rule === undefined ? {} : { ...rule, action: withoutEmpty(rule.action ?? {}) }}
      onClose={onClose}
      onSubmit={save}
      submit={rule === undefined ? "Add rule" : "Save rule"}
      title={rule === undefined ? `Add a rule to ${pool.name}` : `Change ${rule.name}`}
      wide
    />
  );
}

function withoutEmpty(action: object): object {
  return Object.fromEntries(Object.entries(action).filter(([, value]) => value !== "" && value !== 0));
}
