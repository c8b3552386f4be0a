import { targetOf } from "../../../src/gateway/docs/samples/sampled-operation.ts";
import { type Language, languages, writeSample } from "../../../src/gateway/docs/samples/samples.ts";
import { root, signInAddress } from "./account";
import { element } from "./element";
import type { Records } from "./records";
import { openRequestForm } from "./request-form";

/** A request of the reference that the reader can change and send. */
export interface Exchange {
  /** Shows the sample for the inputs, in a language. */
  showSample(language: Language): void;
  fill(): Promise<void>;
}

interface Options {
  /** The records of the caller; undefined if nobody is signed in. */
  readonly records: Records | undefined;
  readonly chooseLanguage: (language: Language) => void;
  /** Called after an answer, which may have changed the known records. */
  readonly onAnswer: () => void;
}

/** Completes an exchange that the server has rendered: languages, a copy button, and a button that sends it. */
export function startExchange(form: HTMLFormElement, { records, chooseLanguage, onAnswer }: Options): Exchange {
  const request = openRequestForm(form);
  const { operation } = request;
  const sample = form.querySelector<HTMLElement>(".sample")!;
  const section = form.closest("section")?.id;
  const offered = languages.filter(
    (each) => writeSample(each, operation, { path: {}, query: {}, body: {} }) !== undefined,
  );
  let shown: Language = "curl";

  const tabs = offered.map((language) =>
    element("button", { type: "button", textContent: language, onclick: () => chooseLanguage(language) }),
  );
  const group = element("div", { className: "segmented", role: "group", ariaLabel: "Language" }, ...tabs);
  const copy = element("button", { type: "button", className: "button quiet small", textContent: "Copy" });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(sample.textContent ?? "");
    copy.textContent = "Copied";
  });
  form.prepend(element("div", { className: "exchange-head" }, group, copy));

  const status = element("span", { className: "status soft", role: "status" });
  const meaning = element("a", { className: "link", hidden: true });
  const output = element("pre", { className: "response", hidden: true, tabIndex: 0, ariaLabel: "Response" });
  const stop = element("button", { type: "button", className: "button", textContent: "Stop", hidden: true });
  const isDeletion = operation.verb === "DELETE";
  const submit =
    records === undefined
      ? element("a", { className: "button primary", href: signInAddress(section), textContent: "Sign in to send it" })
      : element("button", {
          className: `button ${isDeletion ? "danger" : "primary"}`,
          textContent: isDeletion ? "Delete" : "Send",
        });
  form
    .querySelector(".try > .inputs")!
    .append(element("p", { className: "send" }, submit, stop, status, meaning), output);

  form.addEventListener("input", () => showSample(shown));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (records !== undefined) send(records);
  });

  function showSample(language: Language): void {
    shown = offered.includes(language) ? language : "curl";
    for (const tab of tabs) tab.ariaPressed = String(tab.textContent === shown);
    copy.textContent = "Copy";
    const values = request.read();
    form.querySelector("textarea")?.setAttribute("aria-invalid", String(values === undefined));
    if (values !== undefined) sample.textContent = writeSample(shown, operation, values)!;
  }

  async function send(known: Records): Promise<void> {
    const values = request.read();
    meaning.hidden = true;
    if (values === undefined) {
      status.textContent = "The body is not JSON.";
      return;
    }
    const abort = new AbortController();
    stop.onclick = () => abort.abort();
    stop.hidden = false;
    output.hidden = false;
    output.textContent = "";
    status.textContent = "Sending …";
    const startedAt = performance.now();
    try {
      const url = new URL(targetOf(operation, values).slice(1), root);
      const response = await fetch(url, { ...requestOf(values.body), signal: abort.signal });
      status.textContent = `${response.status} ${response.statusText} in ${Math.round(performance.now() - startedAt)} ms`;
      await showBody(response);
      learn(response, known);
    } catch (error) {
      status.textContent = abort.signal.aborted ? "Stopped." : `No response: ${(error as Error).message}`;
    } finally {
      stop.hidden = true;
    }
  }

  function requestOf(body: unknown): RequestInit {
    const { verb, isRaw } = operation;
    // Proves to the service that a script of its own origin sends the request, and not a form of another site.
    const headers: Record<string, string> = verb === "GET" ? {} : { "x-switchyard-session": "1" };
    if (isRaw) {
      const file = form.querySelector<HTMLInputElement>("[name=file]")?.files?.[0];
      return { method: verb, headers: { ...headers, "content-type": "application/octet-stream" }, body: file ?? null };
    }
    if (body === undefined) return { method: verb, headers };
    return { method: verb, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  }

  /** Streams are shown while they arrive. */
  async function showBody({ body }: Response): Promise<void> {
    const decoder = new TextDecoder();
    const reader = body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      output.textContent += decoder.decode(value, { stream: true });
    }
    const answer = parsed(output.textContent);
    if (answer !== undefined) output.textContent = JSON.stringify(answer, null, 2);
  }

  /** Keeps what later requests need, and links an error to its page. */
  function learn(response: Response, known: Records): void {
    const answer = parsed(output.textContent) as { readonly data?: unknown; readonly errorCode?: string } | undefined;
    if (response.status === 401) {
      Object.assign(meaning, { hidden: false, href: signInAddress(section), textContent: "Sign in again" });
    } else if (answer?.errorCode !== undefined) {
      const href = String(new URL(`errors/${answer.errorCode}`, root));
      Object.assign(meaning, { hidden: false, href, textContent: `What ${answer.errorCode} means` });
    }
    if (!response.ok) return;
    known.remember(answer?.data, request.returns());
    if (isDeletion) known.forget(String(Object.values(request.read()!.path).at(-1)));
    onAnswer();
  }

  return {
    showSample,
    async fill() {
      if (records === undefined) return;
      await request.fill(records);
      showSample(shown);
    },
  };
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
