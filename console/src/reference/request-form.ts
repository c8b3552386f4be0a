import type { SampledOperation, SampleValues } from "../../../src/gateway/docs/samples/sampled-operation.ts";
import { element } from "./element";
import type { Records } from "./records";

type Input = HTMLInputElement | HTMLTextAreaElement;

/** The inputs of an exchange. */
export interface RequestForm {
  readonly operation: SampledOperation;
  /** The values of the request; undefined while the body is not JSON. */
  read(): SampleValues | undefined;
  /** Fills in records of the caller, except where somebody has typed. */
  fill(records: Records): Promise<void>;
  /** The slot of the records that the operation returns. */
  returns(): string | undefined;
}

interface ExchangeData {
  readonly operation: SampledOperation;
  readonly slots: Readonly<Record<string, string>>;
}

/** Reads the inputs of a form that the server has rendered. */
export function openRequestForm(form: HTMLFormElement): RequestForm {
  const { operation, slots } = JSON.parse(form.dataset.exchange!) as ExchangeData;
  const parameters = [...form.querySelectorAll<HTMLInputElement>("[data-in]")];
  const body = form.querySelector<HTMLTextAreaElement>("textarea[name=body]");
  const typed = new Set<Input>();
  /** The names of the records whose ids are in the inputs. */
  const labels = new Map<string, string>();
  form.addEventListener("input", ({ target }) => {
    typed.add(target as Input);
    showLabel(target as Input);
  });

  /** Shows beside a field which record its value is. */
  function showLabel(input: Input): void {
    const label = input.closest("label");
    if (label === null || input.getAttribute("list") === null) return;
    let shown = label.querySelector(".soft");
    if (shown === null) {
      shown = element("span", { className: "soft" });
      input.before(shown);
    }
    shown.textContent = labels.get(input.value) ?? "";
  }

  /** The slot of a field, with the variables of its path filled in from the form. */
  function slotOf(field: string, records: Records): string | undefined {
    return slots[field]?.replace(/\{([^}]+)\}/g, (variable, name: string) => knownValue(name, records) ?? variable);
  }

  function knownValue(field: string, records: Records): string | undefined {
    const input = parameters.find((each) => each.name === field && each.dataset.in === "path");
    if (input !== undefined && typed.has(input)) return input.value;
    return records.of(field, slotOf(field, records))[0]?.value;
  }

  /** Reads the list of a field, after those that its path needs. */
  async function load(field: string, records: Records): Promise<void> {
    for (const [, name] of slots[field]?.matchAll(/\{([^}]+)\}/g) ?? []) await load(name!, records);
    const slot = slotOf(field, records);
    if (slot !== undefined) await records.load(slot);
  }

  function offer(input: HTMLInputElement, records: Records): void {
    const values = records.of(input.name, slotOf(input.name, records));
    if (values.length === 0) return;
    const id = `${form.closest("section")?.id ?? "exchange"}-${input.name}`;
    document.getElementById(id)?.remove();
    form.append(element("datalist", { id }, ...values.map(({ value, label }) => element("option", { value, label }))));
    input.setAttribute("list", id);
    for (const { value, label } of values) labels.set(value, label);
    if (!typed.has(input) && input.value !== "") input.value = values[0]!.value;
    showLabel(input);
  }

  function fillBody(value: unknown, records: Records): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => fillBody(each, records));
    const fields = Object.entries(value).map(([name, each]) => {
      const found = knownValue(name, records);
      if (typeof each === "string") return [name, found ?? each];
      const isList = Array.isArray(each) && typeof each[0] === "string";
      return [name, isList && found !== undefined ? [found] : fillBody(each, records)];
    });
    return Object.fromEntries(fields);
  }

  return {
    operation,
    read() {
      const valuesIn = (place: string) =>
        Object.fromEntries(
          parameters
            .filter((each) => each.dataset.in === place && (place === "path" || each.value !== ""))
            .map((each) => [each.name, typedValue(each)]),
        );
      const values = { path: valuesIn("path"), query: valuesIn("query") };
      if (body === null) return values;
      try {
        return { ...values, body: JSON.parse(body.value) };
      } catch {
        return undefined;
      }
    },
    async fill(records) {
      await Promise.all(Object.keys(slots).map((field) => load(field, records)));
      for (const input of parameters) offer(input, records);
      if (body !== null && !typed.has(body)) {
        body.value = JSON.stringify(fillBody(JSON.parse(body.defaultValue), records), null, 2);
      }
    },
    returns() {
      return form.dataset.returns?.replace(/\{([^}]+)\}/g, (variable, name: string) => {
        return parameters.find((each) => each.name === name)?.value || variable;
      });
    },
  };
}

/** The value of an input, in the type of its field. */
function typedValue({ value, dataset }: HTMLInputElement): unknown {
  switch (dataset.type) {
    case "integer":
    case "number":
      return value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "array":
      return value.split(",").map((each) => each.trim());
    default:
      return value;
  }
}
