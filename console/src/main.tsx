import { render } from "preact";
import { startLive } from "./core/live";
import { startRouter } from "./core/router";
import { can, loadSession, session } from "./core/session";
import { Shell } from "./shell";
import { messageOf } from "./ui/format";
import { Notice } from "./ui/text";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/panels.css";
import "./styles/data.css";

const root = document.getElementById("app")!;

try {
  await loadSession();
  startRouter();
  if (can("event:read")) startLive(session.value!.tenant_id);
  render(<Shell />, root);
} catch (error) {
  render(
    <main class="page">
      <h1>The console could not start</h1>
      <Notice tone="bad">{messageOf(error)}</Notice>
    </main>,
    root,
  );
}
