import assert from "node:assert/strict";
import { before, test } from "node:test";
import {
  clientOf,
  dumpTenant,
  install,
  type Json,
  type Market,
  publish,
  startMarket,
  type Tenant,
} from "./market-fixture.ts";
import { workflowPack } from "./sample-packs.ts";

let market: Market;
before(async () => {
  market = await startMarket();
});

const installations = "/api/v2/marketplace/installations";
const packs = "/api/v2/marketplace/packs";

/** Asserts that an action changes no row of the tenant. */
async function changesNothing(tenant: Tenant, action: () => Promise<unknown>): Promise<void> {
  const before = await dumpTenant(market.db, tenant.id);
  await action();
  assert.deepEqual(await dumpTenant(market.db, tenant.id), before);
}

/** A tenant in which a sample pack is published, and the request that installs it. */
async function published() {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher, workflowPack(publisher, "one"));
  return { tenant, publisher, request: { publisher: publisher.name, name: "sample-workflow" } };
}

/** Replaces a text in the stored document, like somebody who can write to the database. */
async function replaceInDocument(tenant: Tenant, from: string, to: string): Promise<void> {
  const { count } = await market.db.sql`
    update marketplace_pack_versions set document = replace(document::text, ${from}, ${to})::json
    where tenant_id = ${tenant.id} and document::text like ${`%${from}%`}`;
  assert.equal(count, 1);
}

test("a pack with one changed byte in its contents installs nothing", async () => {
  const { tenant, request } = await published();
  await replaceInDocument(tenant, '"text":"one"', '"text":"onf"');
  await changesNothing(tenant, async () => {
    await tenant.refused("PACK_UNTRUSTED", "POST", installations, request);
    await tenant.refused("PACK_UNTRUSTED", "POST", `${installations}:preview`, request);
  });
});

test("a pack whose digest was changed with its contents installs nothing", async () => {
  const { tenant, publisher, request } = await published();
  const other = market.newPublisher(publisher.name).sign(workflowPack(publisher, "two"));
  const { digest, signature: _s, key_id: _k, ...document } = other;
  await market.db.sql`
    update marketplace_pack_versions set document = ${JSON.stringify(document)}::text::json, digest = ${digest as string}
    where tenant_id = ${tenant.id}`;
  const problem = await tenant.refused("PACK_UNTRUSTED", "POST", installations, request);
  assert.match(problem.detail, /signature/);
  await market.db.sql`update marketplace_pack_versions set document = '{}' where tenant_id = ${tenant.id}`;
  await tenant.refused("PACK_UNTRUSTED", "POST", installations, request);
});

test("a pack with any changed byte in its signature is refused", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher);
  const signed = publisher.sign(workflowPack(publisher, "one"));
  const bytes = Buffer.from(signed.signature as string, "base64");
  await changesNothing(tenant, async () => {
    for (const at of [0, 31, 32, 63]) {
      const altered = Buffer.from(bytes);
      altered[at]! ^= 1;
      const pack = { ...signed, signature: altered.toString("base64") };
      await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack });
    }
    await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack: { ...signed, signature: "" } });
    await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack: { ...signed, digest: "0".repeat(64) } });
  });
});

test("a pack that another key signed is refused, even under the name of a known key", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  await publish(tenant, publisher);
  const impostor = market.newPublisher(publisher.name);
  const signed = impostor.sign(workflowPack(publisher, "one"));
  await changesNothing(tenant, async () => {
    await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack: signed });
    await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack: { ...signed, key_id: publisher.keyId } });
  });
});

test("a key of one publisher does not sign for another", async () => {
  const tenant = await market.newTenant();
  const [one, two] = [market.newPublisher(), market.newPublisher()];
  await publish(tenant, one);
  await publish(tenant, two);
  const pack = two.sign(workflowPack(one, "one"));
  await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack });
});

test("nothing that a revoked key signed can be published, installed or upgraded to", async () => {
  const { tenant, publisher, request } = await published();
  const { id } = await install(tenant, `${publisher.name}/sample-workflow`);
  await publish(tenant, publisher, workflowPack(publisher, "two", { version: "1.1.0" }));
  const revocation = `/api/v2/marketplace/publisher-keys/${publisher.keyId}/revoke`;
  const revoked = await tenant.ok("POST", revocation, { reason: "leaked" });
  assert.deepEqual([revoked.status, revoked.revoke_reason], ["revoked", "leaked"]);
  assert.deepEqual(await tenant.ok("POST", revocation, {}), revoked, "a second revocation changes nothing");
  await changesNothing(tenant, async () => {
    await tenant.refused("PACK_UNTRUSTED", "POST", `${installations}/${id}/upgrade`, {});
    const pack = publisher.sign(workflowPack(publisher, "three", { version: "1.2.0" }));
    await tenant.refused("PACK_UNTRUSTED", "POST", packs, { pack });
    const again = { publisher: publisher.name, public_key: publisher.publicKey };
    await tenant.refused("ALREADY_EXISTS", "POST", "/api/v2/marketplace/publisher-keys", again);
  });
  await tenant.ok("POST", `${installations}/${id}/uninstall`, {});
  await tenant.refused("PACK_UNTRUSTED", "POST", installations, request);
});

test("an older version is never installed as an upgrade, not even when it is stored under a newer name", async () => {
  const { tenant, publisher } = await published();
  await publish(tenant, publisher, workflowPack(publisher, "two", { version: "2.0.0" }));
  const { id } = await install(tenant, `${publisher.name}/sample-workflow`);
  assert.equal((await tenant.ok("GET", `${installations}/${id}`)).version, "2.0.0");
  await changesNothing(tenant, async () => {
    for (const version of ["1.0.0", "2.0.0"]) {
      const problem = await tenant.refused("FAILED_PRECONDITION", "POST", `${installations}/${id}/upgrade`, {
        version,
      });
      assert.match(problem.detail, /not newer/);
    }
  });
  // Somebody who can write to the database replays the old signed document under a new version.
  await market.db.sql`
    insert into marketplace_pack_versions (tenant_id, publisher, name, version, document, digest, signature, key_id,
      published_by, published_at)
    select tenant_id, publisher, name, '3.0.0', document, digest, signature, key_id, published_by, published_at
    from marketplace_pack_versions where tenant_id = ${tenant.id} and version = '1.0.0'`;
  await changesNothing(tenant, () =>
    tenant.refused("PACK_UNTRUSTED", "POST", `${installations}/${id}/upgrade`, { version: "3.0.0" }),
  );
});

test("a yanked version cannot be installed, stays readable, and is not the newest", async () => {
  const { tenant, publisher, request } = await published();
  await publish(tenant, publisher, workflowPack(publisher, "two", { version: "1.1.0" }));
  const path = `${packs}/${publisher.name}/sample-workflow`;
  await tenant.ok("POST", `${path}/versions/1.1.0/yank`, { reason: "broken", deprecated_by: "acme/other" });
  const pack = await tenant.ok("GET", path);
  assert.deepEqual([pack.version, pack.deprecated_by], ["1.0.0", "acme/other"]);
  assert.deepEqual(
    pack.versions.map(({ version, yanked, yank_reason }: Json) => [version, yanked, yank_reason]),
    [
      ["1.1.0", true, "broken"],
      ["1.0.0", false, ""],
    ],
  );
  assert.equal((await tenant.ok("GET", `${path}?version=1.1.0`)).yanked, true);
  await changesNothing(tenant, async () => {
    const problem = await tenant.refused("FAILED_PRECONDITION", "POST", installations, {
      ...request,
      version: "1.1.0",
    });
    assert.match(problem.detail, /yanked \(broken\)/);
  });
  assert.equal((await install(tenant, `${publisher.name}/sample-workflow`)).version, "1.0.0");
  await tenant.ok("POST", `${path}/versions/1.0.0/yank`, {});
  const { total } = await tenant.call("GET", `${packs}?publisher=${publisher.name}`);
  assert.equal(total, 0, "a pack without installable versions is not listed");
});

test("a pack that does more than it declares installs nothing", async () => {
  const tenant = await market.newTenant();
  const publisher = market.newPublisher();
  const content = {
    ...{ dsl: "1", key: "sample.sneaky", timeout: "1d" },
    steps: [{ id: "one", task: { queue: "[[slot.queue]]", type: "t" }, with: {} }],
  };
  const slots = [{ name: "queue", kind: "text", title: "Queue" }];
  const contents = [{ record: "workflow_definition", key: "main", content }];
  await publish(tenant, publisher, workflowPack(publisher, "", { contents, slots }));
  await changesNothing(tenant, async () => {
    const request = { publisher: publisher.name, name: "sample-workflow", slots: { queue: "q" } };
    const problem = await tenant.refused("FAILED_PRECONDITION", "POST", installations, request);
    assert.match(problem.detail, /does more than it declares: .* effects: workflow:task/);
  });
});

test("publishers of a tenant are its own, and built-in names are reserved", async () => {
  const [one, two] = [await market.newTenant(), await market.newTenant()];
  const [mine, theirs] = [market.newPublisher("shared-name"), market.newPublisher("shared-name")];
  await publish(one, mine, workflowPack(mine, "mine"));
  await publish(two, theirs, workflowPack(theirs, "theirs"));
  await install(one, "shared-name/sample-workflow");
  const { data } = await two.call("GET", `${packs}?publisher=shared-name`);
  assert.deepEqual(
    data.map(({ key_id }: Json) => key_id),
    [theirs.keyId],
  );
  await two.refused("PACK_UNTRUSTED", "POST", packs, {
    pack: mine.sign(workflowPack(mine, "x", { version: "2.0.0" })),
  });
  for (const name of ["switchyard", "switchyard-team"]) {
    const squatter = market.newPublisher(name);
    const key = { publisher: name, public_key: squatter.publicKey };
    await one.refused("INVALID_ARGUMENT", "POST", "/api/v2/marketplace/publisher-keys", key);
    await one.refused("PERMISSION_DENIED", "POST", packs, { pack: squatter.sign(workflowPack(squatter, "x")) });
  }
  const yank = `${packs}/switchyard/daily-digest/versions/1.0.0/yank`;
  await one.refused("PERMISSION_DENIED", "POST", yank, {});
});

test("a version never changes: the same document is accepted again, another one is refused", async () => {
  const { tenant, publisher } = await published();
  await changesNothing(tenant, async () => {
    await tenant.ok("POST", packs, { pack: publisher.sign(workflowPack(publisher, "one")) });
    const other = publisher.sign(workflowPack(publisher, "two"));
    await tenant.refused("ALREADY_EXISTS", "POST", packs, { pack: other });
  });
});

test("an installer needs the scopes of the records, not only that of the marketplace", async () => {
  const { tenant, request } = await published();
  const { secret } = await tenant.ok("POST", "/api/v2/api-keys", {
    name: "installer",
    roles: ["viewer"],
    scopes: ["marketplace:install"],
  });
  const installer = clientOf(market.service.baseUrl, secret);
  await changesNothing(tenant, async () => {
    const problem = await installer.refused("PERMISSION_DENIED", "POST", installations, request);
    assert.deepEqual(problem.missing_scopes, ["workflow_definition:write"]);
  });
  const plan = await installer.ok("POST", `${installations}:preview`, request);
  assert.deepEqual(
    plan.changes.map(({ action }: Json) => action),
    ["create"],
  );
});
