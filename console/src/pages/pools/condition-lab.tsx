import { createRuleService, type ValidateRuleResponse } from "@client/gen/rule";
import { useId, useState } from "preact/hooks";
import { transport } from "../../core/transport";
import { useTypedQuery } from "../../core/typed-query";
import { Button } from "../../ui/button";
import { CelEditor } from "../../ui/cel-editor";
import { messageOf } from "../../ui/format";
import { Status } from "../../ui/text";

const rules = createRuleService(transport);

const firstSample = JSON.stringify(
  {
    item: { type: "ticket", attributes: { language: "de", tier: "gold" } },
    recipient: { name: "ada", skills: { german: 4 } },
  },
  null,
  2,
);

interface Props {
  readonly id: string;
  readonly text: string;
  readonly onInput: (text: string) => void;
}

/** The editor of a condition. It is checked, and tried on a sample, while somebody types. */
export function ConditionLab({ id, text, onInput }: Props) {
  const [sample, setSample] = useState(firstSample);
  const { data: result } = useTypedQuery(JSON.stringify([text, sample]), () => check(text, sample));
  const sampleId = useId();
  const unknown = text === "" ? undefined : unknownVariable(result);
  const errorAt = typeof result === "object" && !result.valid ? result.errors[0]?.offset : undefined;
  return (
    <div class="stack">
      <CelEditor errorAt={errorAt} id={id} label="Condition, in CEL" onInput={onInput} text={text} />
      {text.trim() === "" ? (
        <span class="soft">Without a condition the rule applies to every item.</span>
      ) : (
        <Verdict result={result} />
      )}
      {unknown !== undefined && (
        <div class="filters">
          <span class="soft">Is it an attribute of the item?</span>
          <Button onClick={() => onInput(text.replaceAll(wordPattern(unknown), `item.attributes.${unknown}`))} small>
            Write item.attributes.{unknown}
          </Button>
        </div>
      )}
      <div class="field">
        <label for={sampleId}>Try it on a sample</label>
        <textarea
          class="textarea code"
          id={sampleId}
          onInput={(event) => setSample(event.currentTarget.value)}
          rows={6}
          spellcheck={false}
          value={sample}
        />
      </div>
    </div>
  );
}

/** The first variable of a condition that does not exist. */
function unknownVariable(result: ValidateRuleResponse | string | undefined): string | undefined {
  const message = typeof result === "object" ? result.errors[0]?.message : undefined;
  return message && /There is no variable '(\w+)'/.exec(message)?.[1];
}

/** A variable by itself: no field of another one, no function and no text. */
function wordPattern(name: string): RegExp {
  return new RegExp(`(?<![\\w."'])${name}(?![\\w("'])`, "g");
}

async function check(condition: string, sampleText: string): Promise<ValidateRuleResponse | string> {
  let sample: object;
  try {
    sample = JSON.parse(sampleText) as object;
  } catch {
    return "The sample is not valid JSON.";
  }
  return rules.validate({ condition, sample }).catch(messageOf);
}

/** The service's verdict on the condition. */
function Verdict({ result }: { readonly result: ValidateRuleResponse | string | undefined }) {
  return (
    <div aria-live="polite" class="filters">
      {result === undefined && <span class="faint">Checking…</span>}
      {typeof result === "string" && <span class="soft">{result}</span>}
      {typeof result === "object" && !result.valid && (
        <>
          <Status of="Not valid" tone="bad" />
          <span class="soft">
            {result.errors.map(({ line, column, message }) => `Line ${line}, column ${column}: ${message}`).join(" ")}
          </span>
        </>
      )}
      {typeof result === "object" && result.valid && (
        <>
          <Status of="Valid" tone="ok" />
          {result.result !== undefined && (
            <Status
              of={result.result ? "Matches the sample" : "Does not match the sample"}
              tone={result.result ? "info" : "muted"}
            />
          )}
          {result.evaluation_error !== undefined && <span class="soft">{result.evaluation_error.message}</span>}
          {result.paths.length > 0 && <span class="faint">reads {result.paths.join(", ")}</span>}
        </>
      )}
    </div>
  );
}
