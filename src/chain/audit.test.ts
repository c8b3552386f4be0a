import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { type Operation, readOperations } from "../definitions/index.ts";
import { isAudited, toAuditEntry } from "./audit.ts";
import type { Call } from "./call.ts";

const audited = readOperations().filter(isAudited);

interface Details {
  readonly ids: Readonly<Record<string, string>>;
  readonly records: readonly { readonly type: string; readonly id: string }[];
}

/** The details of the entry of a call. */
function detailsOf(operation: Operation, message: Message, response: Message): Details {
  const call = { operation, message, requestId: "r", remoteAddress: "127.0.0.1" } as Call;
  return toAuditEntry(call, undefined, response).details as unknown as Details;
}

/** A message whose texts are their names and whose numbers are 1, down to a depth. */
function filled(desc: DescMessage, depth: number): Message {
  const values: Record<string, unknown> = {};
  for (const field of desc.fields) {
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) values[field.localName] = field.name;
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.INT32) values[field.localName] = 1;
    if (depth === 0 || field.message === undefined) continue;
    if (field.fieldKind === "message") values[field.localName] = filled(field.message, depth - 1);
    if (field.fieldKind === "list") values[field.localName] = [filled(field.message, depth - 1)];
  }
  return create(desc, values as never);
}

function pathVariables({ bindings }: Operation): string[] {
  return [...new Set(bindings.flatMap(({ path }) => [...path.matchAll(/\{([^}=]+)/g)].map(([, name]) => name!)))];
}

test("an audit entry names everything that identifies a record in the path", () => {
  let count = 0;
  for (const operation of audited) {
    const { ids } = detailsOf(operation, filled(operation.method.input, 0), create(operation.method.output));
    for (const name of pathVariables(operation)) assert.ok(name in ids, `${operation.id} ${name}`);
    count += pathVariables(operation).length;
  }
  assert.ok(count > 100, `${count}`);
});

/** Operations on any number of records, which are neither named by the caller nor returned. */
const unnamed = ["MeterService/RecordUsage", "NotificationService/RedriveNotificationDeadLetters"];

test("an audit entry of a call without an id in its path names the record that it created", () => {
  const silent = audited.filter((operation) => {
    if (pathVariables(operation).length > 0 || operation.streaming) return false;
    return (
      detailsOf(operation, create(operation.method.input), filled(operation.method.output, 3)).records.length === 0
    );
  });
  assert.deepEqual(
    silent.map(({ id }) => id.replace("service.api.", "")),
    unnamed,
  );
});

test("a record without an id is named by its key", () => {
  const nameOf = (id: string) => {
    const operation = audited.find((each) => each.id === `service.api.${id}`)!;
    return detailsOf(operation, create(operation.method.input), filled(operation.method.output, 3)).records;
  };
  assert.deepEqual(nameOf("MeterService/CreateMeter"), [{ type: "meter", id: "key" }]);
  assert.deepEqual(nameOf("PlanService/CreatePlanVersion"), [{ type: "plan_version", id: "plan_key/1" }]);
  assert.deepEqual(nameOf("MarketplaceService/PublishPack"), [{ type: "pack", id: "publisher/name/version" }]);
  assert.deepEqual(nameOf("NotificationWorkflowService/UpsertNotificationWorkflow"), [
    { type: "notification_workflow", id: "workflow_key" },
  ]);
});

test("values of a request that identify no record are not in its entry", () => {
  const route = audited.find(({ id }) => id === "service.api.RoutingService/Route")!;
  const { ids } = detailsOf(route, filled(route.method.input, 0), create(route.method.output));
  assert.ok(!("key" in ids) && !("type" in ids), JSON.stringify(ids));
});
