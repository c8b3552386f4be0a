import { render, type VNode } from "preact";
import { loadEnvironments } from "./core/environments";
import { startLive } from "./core/live";
import { startRouter } from "./core/router";
import { can, loadSession, session } from "./core/session";
import { Shell } from "./shell";
import { Failure } from "./ui/failure";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/navigation.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/panels.css";
import "./styles/data.css";

const root = document.getElementById("app")!;

/** Shows something in place of the text that the page came with. */
function show(content: VNode): void {
  root.replaceChildren();
  render(content, root);
}

try {
  await loadSession();
  void loadEnvironments();
  startRouter();
  if (can("event:read")) startLive(session.value!.tenant_id);
  show(<Shell />);
} catch (error) {
  show(
    <main class="page">
      <h1>Switchyard</h1>
      <Failure error={error} onRetry={() => location.reload()} title="The console could not start." />
    </main>,
  );
}
