// Shows the stored messages. The API key comes from the link (#key=…) or from the form, and stays in this tab.
const here = new URL(document.currentScript.src);
const messagesUrl = new URL("../api/v2/notification/outbox?limit=100", here);
const keyName = "switchyard-key";

const keyForm = document.querySelector("#key-form");
const list = document.querySelector("#messages");
const status = document.querySelector("#status");
const channel = document.querySelector("#channel");
const shown = new Map();

const linked = new URLSearchParams(location.hash.slice(1)).get("key");
if (linked) {
  sessionStorage.setItem(keyName, linked);
  history.replaceState(null, "", location.pathname);
}

keyForm.addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(keyName, new FormData(keyForm).get("key").trim());
  refresh();
});
channel.addEventListener("change", () => {
  for (const each of shown.values()) each.hidden = !isWanted(each.dataset.channel);
});

function isWanted(name) {
  return channel.value === "" || channel.value === name;
}

async function refresh() {
  const key = sessionStorage.getItem(keyName);
  keyForm.hidden = Boolean(key);
  if (!key) {
    status.textContent = "Enter an API key to see the messages.";
    return;
  }
  const response = await fetch(messagesUrl, { headers: { "x-api-key": key } }).catch(() => undefined);
  if (response?.status === 401 || response?.status === 403) {
    sessionStorage.removeItem(keyName);
    status.textContent = "The API key is not valid, or not allowed to read the outbox.";
    keyForm.hidden = false;
    return;
  }
  if (!response?.ok) {
    status.textContent = "The service does not respond. Retrying …";
    return;
  }
  const { data, total, total_capped: isCapped } = await response.json();
  for (const message of data.toReversed()) if (!shown.has(message.id)) show(message);
  const rest = total > data.length ? `, showing the newest ${data.length}` : "";
  status.textContent =
    total === 0
      ? "No messages yet. Triggered notifications appear here."
      : `${isCapped ? "At least " : ""}${total} messages${rest}.`;
}

function show(message) {
  const entry = document.createElement("details");
  entry.dataset.channel = message.channel;
  entry.hidden = !isWanted(message.channel);
  const summary = element("summary");
  summary.append(
    element("span", message.channel, "channel"),
    element("strong", message.subject || message.title || message.body.slice(0, 80)),
    element("span", message.recipient, "soft"),
    element("time", new Date(message.created_at).toLocaleString(), "soft"),
  );
  entry.append(summary);
  entry.addEventListener("toggle", () => entry.childElementCount === 1 && entry.append(...contents(message)));
  shown.set(message.id, entry);
  list.prepend(entry);
}

function contents(message) {
  const parts = [element("p", `${message.workflow_key} · delivery ${message.id}`, "soft")];
  if (message.html) {
    // A sandbox without permissions: scripts in the email cannot run, and it cannot access the page.
    const frame = element("iframe");
    frame.setAttribute("sandbox", "");
    frame.title = "Email";
    frame.srcdoc = message.html;
    parts.push(frame);
  }
  parts.push(element("pre", message.body));
  if (Object.keys(message.data).length > 0) parts.push(element("pre", JSON.stringify(message.data, null, 2)));
  return parts;
}

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

refresh();
setInterval(refresh, 2000);
