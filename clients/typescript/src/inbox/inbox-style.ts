/** The style of the component. A constructed style sheet needs no exception in the policy of the page. */
export const styleText = `
:host {
  color-scheme: light dark;
  --accent: light-dark(#1d4ed8, #93b4ff);
  --on-accent: light-dark(#ffffff, #0b1220);
  --surface: light-dark(#ffffff, #14181f);
  --text: light-dark(#111827, #e8ebf0);
  --soft: light-dark(#4b5563, #a8b0bd);
  --line: light-dark(#d1d5db, #333a46);
  --hover: light-dark(#f3f4f6, #1e242e);
  display: inline-block;
  position: relative;
  font: 14px/1.45 system-ui, sans-serif;
}
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
button { font: inherit; color: inherit; background: none; border: 0; border-radius: 6px; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.bell { position: relative; padding: 8px; color: var(--text); background: var(--surface); }
.bell svg { display: block; width: 22px; height: 22px; }
.badge {
  position: absolute; top: 0; inset-inline-end: 0; min-width: 18px; padding: 0 4px; border-radius: 9px;
  background: var(--accent); color: var(--on-accent); font-size: 11px; line-height: 18px; text-align: center;
}
.panel {
  position: absolute; z-index: 1000; top: calc(100% + 8px); left: 0; width: min(380px, 92vw);
  max-height: min(560px, 80vh); display: flex; flex-direction: column; overflow: hidden;
  color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: 10px;
  box-shadow: 0 8px 30px rgb(0 0 0 / 20%);
}
.panel.to-left { left: auto; right: 0; }
.panel.above { top: auto; bottom: calc(100% + 8px); }
header, .views { display: flex; align-items: center; gap: 4px; padding: 8px 12px; }
header { justify-content: space-between; }
h2 { margin: 0; font-size: 16px; }
header button, .views button, .more, .retry { padding: 4px 8px; color: var(--accent); }
.views { border-bottom: 1px solid var(--line); padding-top: 0; }
.views button { color: var(--soft); }
.views button[aria-pressed="true"] { color: var(--text); background: var(--hover); font-weight: 600; }
.list { list-style: none; margin: 0; padding: 0; overflow-y: auto; }
.item { display: flex; align-items: start; gap: 4px; padding: 4px 8px; border-bottom: 1px solid var(--line); }
.item:hover { background: var(--hover); }
.message { flex: 1; min-width: 0; padding: 6px; text-align: start; color: inherit; text-decoration: none; border-radius: 6px; }
.message > * { display: block; overflow-wrap: anywhere; }
.name { font-weight: 400; }
.item.unread .name { font-weight: 700; }
.item.unread .name::before {
  content: ""; display: inline-block; width: 8px; height: 8px; margin-inline-end: 6px; border-radius: 50%;
  background: var(--accent);
}
.text { color: var(--soft); white-space: pre-line; }
.time { color: var(--soft); font-size: 12px; }
.item button:not(.message) { padding: 6px; color: var(--soft); }
.note { margin: 0; padding: 16px; color: var(--soft); text-align: center; }
.only-read-aloud {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
`;
