import type {
  CreateManifestRequest,
  ConnectorManifestService as Rpc,
  TryManifestRequest,
  ValidateManifestRequest,
} from "../../../../gen/service/api/connector_catalog_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import type { DocumentViolation, JsonObject } from "../../../platform/document/index.ts";
import { manifestSchema } from "./domain/language/manifest-schema.ts";
import type { Provider } from "./domain/provider.ts";
import type { ManifestService } from "./manifest-service.ts";
import { manifestStore } from "./manifest-store.ts";
import { type Trial, type TrialResult, tryManifest } from "./manifest-trial.ts";

/** Handlers of ConnectorManifestService. */
export function manifestHandlers(service: ManifestService): Handlers<typeof Rpc> {
  const schema = {
    contentType: "application/schema+json",
    data: Buffer.from(JSON.stringify(manifestSchema(), null, 2)),
    extensions: [],
  };

  /** The document of a request that has it as JSON or as a text. */
  async function readDocument({
    document,
    text,
    format,
  }: ValidateManifestRequest | CreateManifestRequest | TryManifestRequest) {
    if ((document === undefined) === (text === "")) {
      throw invalid("document", "required", "must be given, or text instead of it");
    }
    return text === "" ? document : service.readText(text, format === "json" ? "json" : "yaml");
  }

  return {
    createManifest: {
      async prepare(context: Context, request: CreateManifestRequest) {
        const document = await readDocument(request);
        const compiled = await service.compile(context, document, request.text);
        return service.requireProvider(document, request.text === "" ? "document" : "text", compiled);
      },
      async run(context: Context, _request: CreateManifestRequest, provider: Provider) {
        return { manifest: await service.createManifest(context, provider) };
      },
    },

    getManifest: async (context, { id }) => ({ manifest: await service.getManifest(context, id) }),

    async listManifests(context, request) {
      const { tenantId, sql } = context;
      const key = request.key === "" ? undefined : request.key;
      const active = await service.activeIds(context);
      const page = await context.page("manifests", request, [request.key], (wanted) =>
        manifestStore(sql).list(tenantId, key, wanted),
      );
      return { ...page, manifests: page.manifests.map((head) => ({ ...head, active: active.has(head.id) })) };
    },

    async deleteManifest(context, { id }) {
      await service.deleteManifest(context, id);
      return {};
    },

    async validateManifest(context, request) {
      const { provider, violations } = await service.compile(context, await readDocument(request), request.text);
      return {
        valid: provider !== undefined,
        violations: violations.map(fromViolation),
        digest: provider?.digest ?? "",
        actionKeys: [...(provider?.actions.values() ?? [])].map(({ key }) => key),
        triggerKeys: [...(provider?.triggers.values() ?? [])].map(({ key }) => key),
      };
    },

    async tryManifest(context, request) {
      const { provider, violations } = await service.compile(context, await readDocument(request), request.text);
      if (provider === undefined) return { ...fromTrial(noTrial), violations: violations.map(fromViolation) };
      const { action, authMode, answers, credentials } = request;
      const [input, settings, captured] = [request.input, request.settings, request.captured].map((each) => each ?? {});
      const account = { settings, captured, credentials } as Trial["account"];
      const trial = { action, authMode, answers, account, input: input as JsonObject };
      return fromTrial(tryManifest(provider, trial, context.nowMs));
    },

    getManifestSchema: async () => ({ schema }),
  };
}

const noReason = { code: "", message: "" };
const noTrial: TrialResult = { steps: [], output: undefined, outputProblems: [], hasMorePages: false };

function fromTrial({ steps, output, outputProblems, hasMorePages }: TrialResult) {
  return {
    steps: steps.map(({ request: { body = "", ...request }, answer }) => ({
      ...{ ...request, body: typeof body === "string" ? body : body.toString("base64"), class: answer?.class ?? "" },
      ...(answer !== undefined && answer.class !== "ok" ? { code: answer.code, message: answer.message } : noReason),
      ...(answer?.retryAtMs !== undefined && { retryAt: new Date(answer.retryAtMs) }),
    })),
    ...{ output, outputProblems, morePages: hasMorePages, violations: [] },
  };
}

function fromViolation({ path, rule, message, position }: DocumentViolation) {
  return { path, rule, message, line: position?.line ?? 0, column: position?.column ?? 0 };
}
