import { createMarketplaceService, type Installation } from "@client/gen/marketplace";
import { useQuery } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Empty } from "../../ui/empty";
import { Ready } from "../../ui/page";
import { Table } from "../../ui/table";
import { Ago } from "../../ui/text";

const marketplace = createMarketplaceService(transport);
const pageSize = 100;

/** The packs that are installed. */
export function Installed() {
  const list = useQuery("installations", () => marketplace.listInstallations({ per_page: pageSize }).page(), {
    live: ["marketplace."],
  });
  const uninstall = ({ id, name }: Installation) =>
    confirm({
      title: `Uninstall ${name}?`,
      consequence: "All records that the pack created are deleted, unless somebody else uses them.",
      confirm: "Uninstall",
      typed: name,
      done: "The pack was uninstalled.",
      act: () => marketplace.uninstallPack({ id }).then(list.refresh),
    });
  const upgrade = ({ id, name, available_version, version }: Installation) =>
    confirm({
      title: `Upgrade ${name}?`,
      consequence: `From ${version} to ${available_version}. Changes that you made to its records are kept; a conflict is refused.`,
      confirm: "Upgrade",
      done: "The pack was upgraded.",
      act: () => marketplace.upgradePack({ id, version: available_version }).then(list.refresh),
    });
  return (
    <Ready query={list}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            samples={{
              curl: `curl -sS -X POST '$ORIGIN/api/v2/marketplace/installations' \\\n  -H "X-API-Key: $SWITCHYARD_KEY" -H 'Content-Type: application/json' \\\n  -d '{"publisher": "switchyard", "name": "…"}'`,
              cli: "service pack install --publisher switchyard --name …",
              sdk: `await client.marketplace.installPack({ publisher: "switchyard", name: "…" });`,
            }}
            title="Nothing is installed"
          >
            A pack brings workflows, notifications, rules or connectors that work together.
          </Empty>
        ) : (
          <Table
            columns={[
              { title: "Pack", value: ({ publisher, name }) => `${publisher}/${name}` },
              { title: "Version", width: "100px", value: ({ version }) => version },
              { title: "Available", width: "100px", value: ({ available_version }) => available_version },
              { title: "Records", width: "90px", isNumber: true, value: ({ records }) => records.length },
              {
                title: "Changed",
                width: "120px",
                value: ({ updated_at }) => updated_at,
                render: ({ updated_at }) => <Ago time={updated_at} />,
              },
            ]}
            keyOf={({ id }) => id}
            label="Installed packs"
            rowActions={
              can("marketplace:install")
                ? (installation) => (
                    <>
                      {installation.available_version !== "" && (
                        <Button onClick={() => upgrade(installation)} small tone="quiet">
                          Upgrade
                        </Button>
                      )}
                      <Button onClick={() => uninstall(installation)} small tone="quiet">
                        Uninstall
                      </Button>
                    </>
                  )
                : undefined
            }
            rowActionsWidth="190px"
            rows={items}
          />
        )
      }
    </Ready>
  );
}
