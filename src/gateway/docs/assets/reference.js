// Filters the operations on the index, and sends the requests of the forms to the instance that served the page.
const instance = new URL("..", document.currentScript.src);
const keyName = "switchyard-key";

const filter = document.querySelector("#filter");
filter?.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const service of document.querySelectorAll(".service")) {
    let found = 0;
    for (const each of service.querySelectorAll("[data-search]")) {
      each.hidden = !words.every((word) => each.dataset.search.includes(word));
      if (!each.hidden) found++;
    }
    service.hidden = found === 0;
  }
});

const keyForm = document.querySelector("#key-form");
const keyStatus = document.querySelector("#key-status");
keyForm.addEventListener("submit", (event) => {
  event.preventDefault();
  const key = keyForm.elements.key.value.trim();
  if (key === "") sessionStorage.removeItem(keyName);
  else sessionStorage.setItem(keyName, key);
  keyForm.reset();
  showKey();
});

function showKey() {
  const isSet = sessionStorage.getItem(keyName) !== null;
  keyStatus.textContent = isSet
    ? "The API key is set for this tab."
    : "Required to send requests. The key stays in this tab.";
}
showKey();

for (const form of document.querySelectorAll("form[data-path]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
  form.addEventListener("input", () => showCurl(form));
  form.closest("details").addEventListener("toggle", () => showCurl(form));
}

/** The path and the body of a form's request. */
function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("[data-in]")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.append(input.name, input.value);
  }
  const target = query.size === 0 ? path : `${path}?${query}`;
  return { target, body: form.elements.body?.value };
}

function showCurl(form) {
  const { target, body } = requestOf(form);
  const verb = form.dataset.verb;
  const lines = [
    `curl -sS --fail-with-body ${verb === "GET" ? "" : `-X ${verb} `}"$ADDRESS${target}" -H "X-API-Key: $KEY"`,
  ];
  if (body !== undefined) {
    lines.push(`  -H 'Content-Type: application/json'`, `  -d '${compact(body).replaceAll("'", `'\\''`)}'`);
  }
  form.querySelector(".curl").textContent = lines.join(" \\\n");
}

function compact(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

async function send(form) {
  const { target, body } = requestOf(form);
  const status = form.querySelector(".status");
  const output = form.querySelector(".response");
  const stop = form.querySelector(".stop");
  const key = sessionStorage.getItem(keyName);
  const headers = {};
  if (key !== null) headers["x-api-key"] = key;
  if (body !== undefined) headers["content-type"] = "application/json";
  if ("acceptsKey" in form.dataset) headers["idempotency-key"] = crypto.randomUUID();
  const abort = new AbortController();
  stop.onclick = () => abort.abort();
  stop.hidden = false;
  output.hidden = false;
  output.textContent = "";
  status.textContent = "Sending …";
  const startedAt = performance.now();
  try {
    const url = new URL(target.slice(1), instance);
    const response = await fetch(url, { method: form.dataset.verb, headers, body, signal: abort.signal });
    status.textContent = `${response.status} ${response.statusText} in ${Math.round(performance.now() - startedAt)} ms`;
    // Streams are shown while they arrive.
    const decoder = new TextDecoder();
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      output.textContent += decoder.decode(value, { stream: true });
    }
    output.textContent = indented(output.textContent);
  } catch (error) {
    status.textContent = abort.signal.aborted ? "Stopped." : `No response: ${error.message}`;
  } finally {
    stop.hidden = true;
  }
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
