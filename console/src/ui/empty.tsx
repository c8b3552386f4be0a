import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Code } from "./text";

/** How to fill an empty page: the same call for three kinds of people. */
export interface Samples {
  readonly curl: string;
  readonly cli: string;
  readonly sdk: string;
}

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly samples?: Samples;
  readonly action?: ComponentChildren;
}

const names = { curl: "curl", cli: "CLI", sdk: "TypeScript" } as const;

/** Shown instead of an empty list: what would be here, and the call that fills it. */
export function Empty({ title, children, samples, action }: Props) {
  const [shown, show] = useState<keyof Samples>("curl");
  return (
    <div class="card empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
      {samples !== undefined && (
        <>
          <fieldset aria-label="Language of the sample" class="segmented">
            {(Object.keys(names) as (keyof Samples)[]).map((name) => (
              <button aria-pressed={shown === name} key={name} onClick={() => show(name)} type="button">
                {names[name]}
              </button>
            ))}
          </fieldset>
          <Code text={samples[shown].replaceAll("$ORIGIN", location.origin)} />
        </>
      )}
    </div>
  );
}

/** The samples of a call that creates something. */
export function samplesOf(call: { verb?: "PUT"; path: string; body: object; cli: string; sdk: string }): Samples {
  const body = JSON.stringify(call.body);
  return {
    curl: `curl -sS -X ${call.verb ?? "POST"} '$ORIGIN${call.path}' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '${body}'`,
    cli: `service ${call.cli}`,
    sdk: `import { createClient } from "@switchyard/client";\n\nconst client = createClient({ baseUrl: "$ORIGIN", apiKey: process.env.SWITCHYARD_KEY });\nawait client.${call.sdk};`,
  };
}
