import type { Explanation, ExplanationStep } from "@client/gen/explain";
import { Card } from "../../ui/card";
import { formatCount, formatTime, words } from "../../ui/format";
import { Name, Prose } from "../../ui/name";
import { type Column, Table } from "../../ui/table";
import { Notice, Status } from "../../ui/text";
import { Waits } from "../shared/waits";

const recipientStep = /^recipient_(.+)$/;

/** Who could have got the item, what the strategy compared, what the rules read, and what holds the item now. */
export function Evidence({ explanation }: { readonly explanation: Explanation }) {
  const { summary, steps, waits, remedies } = explanation;
  const recipients = steps.filter(({ code }) => recipientStep.test(code));
  const rules = steps.filter(({ code, subject }) => code === "rule" && subject !== "");
  return (
    <>
      <Notice tone="info">
        <strong>
          <Prose text={summary} />
        </strong>
        <Waits of={waits} />
        {remedies.map((remedy) => (
          <div key={remedy}>
            <Prose text={remedy} />
          </div>
        ))}
      </Notice>
      {recipients.length > 0 && (
        <Card flush title="Recipients">
          <Table
            columns={columnsOf(recipients)}
            keyOf={({ subject }) => subject}
            label="Recipients of the decision"
            rows={chosenFirst(recipients)}
          />
        </Card>
      )}
      {rules.length > 0 && (
        <Card title="Rules">
          <ol class="steps">
            {rules.map((rule) => (
              <li data-tone={rule.result === "matched" ? "ok" : "muted"} key={rule.subject}>
                <span>
                  <strong>
                    <Name id={rule.subject} kind="rule" />
                  </strong>{" "}
                  <span class="soft">{words(rule.result)}</span>
                </span>
                <span class="detail">
                  {rule.message}
                  <Values of={unsaid(rule)} />
                </span>
              </li>
            ))}
          </ol>
        </Card>
      )}
    </>
  );
}

function chosenFirst(steps: readonly ExplanationStep[]): readonly ExplanationStep[] {
  return steps.toSorted((one, other) => Number(isChosen(other)) - Number(isChosen(one)));
}

function isChosen({ code }: ExplanationStep): boolean {
  return code === "recipient_chosen";
}

/** One column for each value that is known of any recipient. Values that a rule read have paths, and stand with the reason. */
function columnsOf(steps: readonly ExplanationStep[]): readonly Column<ExplanationStep>[] {
  const names = new Set(steps.flatMap(({ values = {} }) => Object.keys(values).filter((name) => !name.includes("."))));
  return [
    {
      title: "Recipient",
      width: "150px",
      value: ({ subject }) => subject,
      render: ({ subject }) => <Name id={subject} kind="recipient" />,
    },
    { title: "Why", value: ({ message }) => message, render: (step) => <Reason of={step} /> },
    {
      title: "Verdict",
      width: "130px",
      value: ({ code }) => recipientStep.exec(code)![1],
      render: (step) => <Status of={recipientStep.exec(step.code)![1]} tone={isChosen(step) ? "ok" : "muted"} />,
    },
    ...[...names].map((name) => ({
      title: words(name),
      width: "96px",
      isNumber: true,
      value: ({ values }: ExplanationStep) => comparable(values?.[name]),
      render: ({ values }: ExplanationStep) => textOf(values?.[name]),
    })),
  ];
}

function Reason({ of: { message, values = {} } }: { readonly of: ExplanationStep }) {
  const read = Object.entries(values).filter(([name]) => name.includes("."));
  return (
    <span title={message}>
      {message}
      <Values of={unsaid({ message, values: Object.fromEntries(read) })} />
    </span>
  );
}

/** The values that the message does not already compare with, such as `item.attributes.language == "de"`. */
function unsaid({ message, values = {} }: Pick<ExplanationStep, "message" | "values">) {
  const said = ([path, value]: [string, unknown]) => message.includes(`${path} == ${JSON.stringify(value)}`);
  return Object.fromEntries(Object.entries(values).filter((each) => !said(each)));
}

/** What a rule read, by its path. */
function Values({ of: values }: { readonly of: Readonly<Record<string, unknown>> }) {
  return (
    <>
      {Object.entries(values).map(([path, value]) => (
        <code key={path}>
          {" "}
          {path} = {value === null ? "not set" : JSON.stringify(value)}
        </code>
      ))}
    </>
  );
}

function comparable(value: unknown): string | number | undefined {
  return typeof value === "number" || typeof value === "string" ? value : undefined;
}

function textOf(value: unknown): string {
  if (typeof value === "number") return formatCount(value);
  if (typeof value !== "string") return "–";
  return /^\d{4}-\d\d-\d\dT/.test(value) ? formatTime(value) : value;
}
