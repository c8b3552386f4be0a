import { type BrowserSession, createBrowserSessionService } from "@client/gen/browser-session";
import { useState } from "preact/hooks";
import { useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { words } from "../../ui/format";
import { ListTable, Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Ago, Status } from "../../ui/text";
import { toastError } from "../../ui/toast";
import { SecretDialog } from "../shared/secret-dialog";

const sessions = createBrowserSessionService(transport);

const columns: readonly Column<BrowserSession>[] = [
  {
    title: "Browser",
    value: ({ user_agent }) => browserName(user_agent),
    render: ({ user_agent, current }) => (
      <>
        {browserName(user_agent)} {current && <Status of="This browser" tone="info" />}
      </>
    ),
  },
  { title: "Address", width: "160px", value: ({ address }) => address },
  { title: "Signed in by", width: "130px", value: ({ method }) => words(method) },
  {
    title: "Since",
    width: "120px",
    value: ({ created_at }) => created_at,
    render: ({ created_at }) => <Ago time={created_at} />,
  },
  {
    title: "Last seen",
    width: "120px",
    value: ({ last_seen_at }) => last_seen_at,
    render: ({ last_seen_at }) => <Ago time={last_seen_at} />,
  },
  {
    title: "Ends",
    width: "120px",
    value: ({ expires_at }) => expires_at,
    render: ({ expires_at }) => <Ago time={expires_at} />,
  },
];

function browserName(userAgent: string): string {
  const found = /(Edg|Firefox|Chrome|Safari)\/(\d+)/.exec(userAgent);
  const system = /\(([^;)]+)/.exec(userAgent)?.[1] ?? "";
  return found === null
    ? userAgent.slice(0, 60) || "Unknown"
    : `${found[1]!.replace("Edg", "Edge")} ${found[2]} on ${system}`;
}

/** Sessions: in which browsers somebody is signed in as you. */
export default function Sessions() {
  const [link, setLink] = useState<string>();
  const list = useList("sessions", (page) => sessions.list(page), { live: ["browser_session."] });
  const createLink = () =>
    sessions.createLoginLink({ return_to: "/console" }).then(({ url }) => setLink(url), toastError);
  const end = (session: BrowserSession) =>
    confirm({
      title: session.current ? "Sign out of this browser?" : "End this session?",
      consequence: "The browser has to sign in again. It happens on every node within a second.",
      confirm: session.current ? "Sign out" : "End session",
      done: "The session has ended.",
      act: () =>
        sessions.revoke({ id: session.id }).then(() => {
          if (session.current) location.assign("/auth/sign-in");
          else list.refresh();
        }),
    });
  return (
    <Page
      actions={
        can("browser_session:write") && (
          <Button icon="plus" onClick={createLink}>
            Login link
          </Button>
        )
      }
      question="In which browsers am I signed in?"
      title="Sessions"
    >
      <ListTable
        columns={columns}
        empty={<Empty title="No session">There is none besides this one.</Empty>}
        keyOf={({ id }) => id}
        label="Browser sessions"
        list={list}
        rowActions={
          can("browser_session:write")
            ? (session) => (
                <Button onClick={() => end(session)} small tone="quiet">
                  {session.current ? "Sign out" : "End"}
                </Button>
              )
            : undefined
        }
        rowActionsWidth="100px"
      />
      {link !== undefined && (
        <SecretDialog onClose={() => setLink(undefined)} secret={link} title="A link that signs another browser in">
          It works once, within ten minutes, and gives your access. Send it only to yourself.
        </SecretDialog>
      )}
    </Page>
  );
}
