import { createPromotionService, type SimulationTarget } from "@client/gen/promotion";
import { useQuery } from "../../core/query";
import { href } from "../../core/router";
import { transport } from "../../core/transport";
import { Card, Stat } from "../../ui/card";
import { Empty } from "../../ui/empty";
import { formatCount, formatPercent, formatSeconds, formatTime, words } from "../../ui/format";
import { Name, nameColumn, Prose } from "../../ui/name";
import { Ready } from "../../ui/page";
import { type Column, Table } from "../../ui/table";
import { Notice } from "../../ui/text";
import { RecordedRange, recordedRange } from "../shared/recorded-range";

const promotions = createPromotionService(transport);

const itemsMax = 20_000;

/** What a candidate would have changed about recorded work. */
export function WhatIf({ id }: { readonly id: string }) {
  const range = recordedRange();
  const simulation = useQuery(`simulation ${id} ${range.name}`, () =>
    promotions.simulateCandidate({ candidate_id: id, from: range.from(), items_max: itemsMax }),
  );
  return (
    <>
      <RecordedRange label="Recorded work" />
      <Ready query={simulation}>
        {({ targets }) =>
          targets.length === 0 ? (
            <Empty title="Nothing to simulate">Connectors decide nothing.</Empty>
          ) : (
            targets.map((target) => <Target key={target.target_id} target={target} />)
          )
        }
      </Ready>
    </>
  );
}

function Target({ target }: { readonly target: SimulationTarget }) {
  const { kind, target_name, items, changed, reproduced, is_cut, causes, cost, waits, refused, first_at, last_at } =
    target;
  const what = kind === "workflow" ? "runs" : "items";
  if (items === 0) {
    return <Empty title={`No recorded ${what} of ${target_name}`}>Choose a longer time, or wait for traffic.</Empty>;
  }
  return (
    <section aria-label={target_name} class="stack">
      <h2>
        {target_name} <span class="soft">{`${formatTime(first_at)} to ${formatTime(last_at)}`}</span>
      </h2>
      {is_cut && (
        <Notice tone="info">
          There is more recorded work in this time than a simulation takes: this is the newest.
        </Notice>
      )}
      <div class="stats">
        <Stat
          label="Changed"
          note={causes.map((each) => `${words(each.cause)} ${formatCount(each.items)}`).join(", ") || "nothing"}
          tone={changed > 0 ? "warn" : "ok"}
          value={`${formatCount(changed)} of ${formatCount(items)}`}
        />
        <Stat
          label="As recorded"
          note="what the target has now gives the same result"
          value={formatPercent(reproduced / items)}
        />
        {waits && (
          <Stat
            label="Wait, 95th percentile"
            note={`now ${secondsOf(waits.before?.p95_ms)}`}
            value={secondsOf(waits.after?.p95_ms)}
          />
        )}
        {refused && <Stat label="Not accepted" note={`now ${formatCount(refused.before)}`} value={refused.after} />}
        {cost && <Stat label="Cost" note={`now ${cost.before.toFixed(2)}`} value={cost.after.toFixed(2)} />}
      </div>
      {target.recipients.length > 0 && <Recipients target={target} />}
      {target.rules.length > 0 && <Rules target={target} />}
      {target.steps.length > 0 && <Steps target={target} />}
      <Shifts label="Outcomes" rows={target.outcomes} />
      <Shifts label="Reasons" rows={target.reasons} />
      {target.constraints.length > 0 && <Constraints target={target} />}
      {target.examples.length > 0 && <Examples target={target} />}
    </section>
  );
}

interface Part {
  readonly target: SimulationTarget;
}

const count = { isNumber: true, width: "100px" } as const;

type RecipientShift = SimulationTarget["recipients"][number];

const recipientColumns: readonly Column<RecipientShift>[] = [
  nameColumn({ title: "Recipient", kind: "recipient", id: ({ recipient_id }) => recipient_id }),
  { ...count, title: "Recorded", value: ({ recorded }) => recorded },
  { ...count, title: "Now", value: ({ before }) => before },
  { ...count, title: "Candidate", value: ({ after }) => after },
  {
    ...{ title: "At once, on average", width: "150px", isNumber: true, value: ({ load_after }) => load_after },
    render: ({ load_before, load_after }) => `${load_before.toFixed(1)} → ${load_after.toFixed(1)}`,
  },
];

function Recipients({ target: { recipients } }: Part) {
  return (
    <Table
      columns={recipientColumns}
      keyOf={({ recipient_id }) => recipient_id}
      label="Items of recipients"
      rows={recipients}
    />
  );
}

function Rules({ target: { rules } }: Part) {
  return (
    <Table
      columns={[
        { title: "Rule", value: ({ name }) => name },
        { ...count, title: "Now", value: ({ before }) => before },
        { ...count, title: "Candidate", value: ({ after }) => after },
        { ...count, title: "Changed", value: ({ changed }) => changed },
      ]}
      keyOf={({ rule_id }) => rule_id}
      label="Items that rules match"
      rows={rules}
    />
  );
}

function Steps({ target: { steps } }: Part) {
  return (
    <Table
      columns={[
        { title: "First different step", value: ({ step }) => step || "the end of the run" },
        { title: "Change", width: "120px", value: ({ change }) => words(change) },
        { ...count, title: "Runs", value: ({ items }) => items },
      ]}
      keyOf={({ step, change }) => `${step} ${change}`}
      label="Where runs differ first"
      rows={steps}
    />
  );
}

function Shifts({ label, rows }: { readonly label: string; readonly rows: SimulationTarget["outcomes"] }) {
  if (rows.length === 0) return null;
  return (
    <Table
      columns={[
        { title: label, value: ({ before, after }) => `${words(before)} → ${words(after)}` },
        { ...count, title: "Items", value: ({ items }) => items },
      ]}
      keyOf={({ before, after }) => `${before} ${after}`}
      label={`${label} that change`}
      rows={rows}
    />
  );
}

function Constraints({ target: { constraints } }: Part) {
  return (
    <Table
      columns={[
        { title: "Constraint", value: ({ constraint, result }) => `${words(constraint)}: ${words(result)}` },
        { ...count, title: "Now", value: ({ before }) => before },
        { ...count, title: "Candidate", value: ({ after }) => after },
      ]}
      keyOf={({ constraint, result }) => `${constraint} ${result}`}
      label="Items that constraints do not admit"
      rows={constraints}
    />
  );
}

function Examples({ target: { examples, kind } }: Part) {
  const isRun = kind === "workflow";
  return (
    <Card title="Examples">
      <ul class="steps">
        {examples.map(({ id, before, after, cause }) => (
          <li key={id}>
            <span>
              <a class="link" href={href(isRun ? `workflows/runs/${id}` : `decisions/${id}`)}>
                <Name id={id} kind={isRun ? "workflow_run" : "decision"} otherwise={isRun ? "run" : "decision"} plain />
              </a>{" "}
              <Prose text={before} /> → <Prose text={after} />
            </span>
            <span class="when">{words(cause)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function secondsOf(ms: number | undefined): string {
  const seconds = (ms ?? 0) / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : formatSeconds(Math.round(seconds));
}
