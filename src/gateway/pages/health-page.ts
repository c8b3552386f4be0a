import { create, type Message } from "@bufbuild/protobuf";
import {
  type GetOperationalHealthReportRequest,
  GetOperationalHealthReportRequestSchema,
  type GetOperationalHealthReportResponse,
  ListOperationalHealthScopesRequestSchema,
  type ListOperationalHealthScopesResponse,
  type OperationalHealthReport,
  type OperationalHealthScope,
} from "../../../gen/service/api/operational_health_pb.ts";
import type { Call, Next } from "../../chain/call.ts";
import type { Operation } from "../../definitions/index.ts";
import { Failure, fail } from "../../errors/index.ts";
import type { TenantId } from "../../platform/access/index.ts";
import type { PathHandler } from "../edge.ts";
import { createCall, type Exchange, headerOf, writeHead, writeText } from "../exchange.ts";
import { requireRead } from "../health.ts";
import { consolePolicy } from "./console-policy.ts";

interface Workspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

interface Options {
  readonly operations: readonly Operation[];
  readonly invoke: Next;
  readonly readWorkspace: (tenantId: TenantId) => Promise<Workspace | undefined>;
  readonly page: {
    readonly headers: Readonly<Record<string, string>>;
    readonly styleSource: string;
    render(content: {
      readonly report: OperationalHealthReport;
      readonly scopes: readonly OperationalHealthScope[];
      readonly workspace: string;
    }): string;
    renderRefusal(title: string, text: string, isOwnWorkspace: boolean): string;
  };
}

const pattern = /^\/workspaces\/([A-Za-z0-9_-]{1,64})\/health\/?$/;
const service = "service.api.OperationalHealthService";
const scopesMax = 1000;

/**
 * Creates the health page of a workspace, `/workspaces/{tenant}/health`. The tenant is the id or the slug of the person's own
 * one. The report comes from the same operation, through the same chain, as that of every other client. With scripts, the browser
 * shows the health page of the console instead.
 */
export function createHealthPageHandler({ operations, invoke, readWorkspace, page }: Options): PathHandler {
  const operationNamed = (name: string) => operations.find(({ id }) => id === `${service}/${name}`)!;
  const getReport = operationNamed("GetOperationalHealthReport");
  const listScopes = operationNamed("ListOperationalHealthScopes");

  const headers = { ...page.headers, "content-security-policy": consolePolicy(page.styleSource) };

  async function perform<T extends Message>(call: Call): Promise<T> {
    return (await invoke(call)) as T;
  }

  async function serve(exchange: Exchange, tenant: string): Promise<void> {
    allowLinks(exchange);
    let workspace: Workspace | undefined;
    try {
      const call: Call = createCall(exchange, getReport, "rest", async () => {
        const own = await readWorkspace(call.tenantId!);
        if (own?.id !== tenant && own?.slug !== tenant) throw unknownWorkspace();
        workspace = own;
        return requestOf(exchange);
      });
      const { report } = await perform<GetOperationalHealthReportResponse>(call);
      const { scopes } = await perform<ListOperationalHealthScopesResponse>(
        createCall(exchange, listScopes, "rest", () =>
          create(ListOperationalHealthScopesRequestSchema, { pageSize: scopesMax }),
        ),
      );
      writeText(exchange, 200, headers, page.render({ report: report!, scopes, workspace: workspace!.name }));
    } catch (error) {
      const failure = error instanceof Failure ? error : fail("INTERNAL", { cause: error });
      refuse(exchange, tenant, failure, workspace !== undefined);
    }
  }

  function refuse(exchange: Exchange, tenant: string, failure: Failure, isOwnWorkspace: boolean): void {
    if (failure.code === "UNAUTHENTICATED") {
      const path = exchange.query === "" ? exchange.path : `${exchange.path}?${exchange.query}`;
      const location = `/auth/sign-in?${new URLSearchParams({ workspace: tenant, return_to: path })}`;
      writeHead(exchange, 303, { location, "cache-control": "no-store" });
      exchange.response.end();
      return;
    }
    const text = page.renderRefusal("This page cannot be shown", failure.message, isOwnWorkspace);
    writeText(exchange, failure.entry.http, headers, text);
  }

  return (exchange) => {
    const tenant = pattern.exec(exchange.path)?.[1];
    if (tenant === undefined) return false;
    requireRead(exchange);
    return serve(exchange, tenant).then(() => true);
  };
}

/**
 * Lets a link on another site lead here. Such a site cannot read or embed the page, and the page changes nothing. The session
 * is otherwise refused for requests that another site causes.
 */
function allowLinks({ request }: Exchange): void {
  const isNavigation =
    headerOf(request, "sec-fetch-mode") === "navigate" && headerOf(request, "sec-fetch-dest") === "document";
  if (isNavigation) delete request.headers["sec-fetch-site"];
}

function requestOf({ query }: Exchange): GetOperationalHealthReportRequest {
  const params = new URLSearchParams(query);
  return create(GetOperationalHealthReportRequestSchema, {
    environment: params.get("environment") ?? "",
    period: params.get("period") ?? "",
  });
}

function unknownWorkspace(): Failure {
  return fail("NOT_FOUND", { public: "No such workspace." });
}
