import type { Parameter } from "../openapi/index.ts";
import type { DescribedOperation } from "./described-operation.ts";
import { escapeHtml } from "./page.ts";
import type { RecordSlot, RecordSlots } from "./record-slots.ts";
import type { SampleValues } from "./samples/sampled-operation.ts";
import { writeSample } from "./samples/samples.ts";

/** The values that an exchange begins with instead of the examples, by parameter. */
export type Presets = Readonly<Record<string, string>>;

/**
 * Renders a request as a sample and as a form that sends it. The script of the page adds the other languages, fills in the
 * caller's own records and sends the request.
 */
export function renderExchange(
  described: DescribedOperation,
  allParameters: readonly Parameter[],
  slots: RecordSlots,
  presets: Presets = {},
): string {
  const { sampled, operation } = described;
  const parameters = allParameters.filter((each) => each.in !== "header");
  const values = exampleValues(described, parameters, presets);
  const valueFor = ({ name, in: place }: Parameter) => (place === "path" ? values.path : values.query)[name];
  const given = parameters.filter((each) => valueFor(each) !== undefined);
  const inputs = (shown: readonly Parameter[]) => shown.map((each) => input(each, valueFor(each))).join("\n");
  const optional = parameters.filter((each) => !given.includes(each));
  const data = { operation: sampled, slots: slotsOf(sampled.path, parameters, values.body, slots) };
  const returned = operation && slots.ofResponse(operation);
  return `<form class="exchange" data-exchange="${escapeHtml(JSON.stringify(data))}"${returned === undefined ? "" : ` data-returns="${returned}"`}>
<pre class="sample" tabindex="0" aria-label="Sample">${escapeHtml(writeSample("curl", sampled, values)!)}</pre>
<details class="try"><summary>Try it</summary>
<div class="inputs">
${inputs(given)}
${optional.length === 0 ? "" : `<details><summary>Optional parameters</summary>\n<div class="inputs">\n${inputs(optional)}\n</div></details>`}
${textArea(values.body, sampled.isRaw === true)}
</div></details>
</form>`;
}

/** The example of a request: what it must have, and nothing else that could be left out. */
export function exampleValues(
  { object }: DescribedOperation,
  parameters: readonly Parameter[],
  presets: Presets = {},
): SampleValues {
  const valuesIn = (place: Parameter["in"]) =>
    Object.fromEntries(
      parameters
        .filter((each) => each.in === place)
        .map(({ name, example = place === "path" ? "" : undefined }) => [name, presets[name] ?? example])
        .filter(([, value]) => value !== undefined),
    );
  const media = object.requestBody?.content["application/json"];
  return { path: valuesIn("path"), query: valuesIn("query"), ...(media && { body: media.example ?? {} }) };
}

function input({ name, in: place, required, description, schema }: Parameter, value: unknown): string {
  const notes = [place === "path" || required ? " required" : ""];
  if (value !== undefined) notes.push(` value="${escapeHtml(String(value))}"`);
  const type = [schema.type ?? "string"].flat().find((each) => each !== "null");
  return `<label>${escapeHtml(name)} <input class="input" name="${escapeHtml(name)}" data-in="${place}" data-type="${type}" title="${escapeHtml(description)}"${notes.join("")}></label>`;
}

function textArea(body: unknown, isRaw: boolean): string {
  if (isRaw) return `<label>Body <input class="input" name="file" type="file"></label>`;
  if (body === undefined) return "";
  const text = JSON.stringify(body, null, 2);
  return `<label>Body <textarea class="textarea code" name="body" rows="${Math.min(14, text.split("\n").length + 1)}" spellcheck="false">${escapeHtml(text)}</textarea></label>`;
}

/** The slots of the parameters, of the fields of the body, and of the variables in the paths of these slots. */
function slotsOf(path: string, parameters: readonly Parameter[], body: unknown, slots: RecordSlots) {
  const found: Record<string, RecordSlot> = {};
  const add = (name: string, slot: RecordSlot | undefined) => {
    if (slot === undefined || name in found) return;
    found[name] = slot;
    for (const [, variable] of slot.matchAll(/\{([^}]+)\}/g)) add(variable!, slots.ofVariable(slot, variable!));
  };
  for (const { name, in: place } of parameters) {
    add(name, place === "path" ? slots.ofVariable(path, name) : slots.ofName(name));
  }
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      if (typeof each === "string" || (Array.isArray(each) && typeof each[0] === "string"))
        add(name, slots.ofName(name));
      else visit(each);
    }
  };
  visit(body);
  return found;
}
