import { readOperations } from "../../src/definitions/index.ts";
import { type DescribedOperation, describeOperations } from "../../src/gateway/docs/described-operation.ts";
import { exampleValues } from "../../src/gateway/docs/exchange.ts";
import { parametersOf } from "../../src/gateway/docs/operation-section.ts";
import type { SampleValues } from "../../src/gateway/docs/samples/sampled-operation.ts";
import { type Language, writeSample } from "../../src/gateway/docs/samples/samples.ts";
import { buildOpenApi } from "../../src/gateway/openapi/index.ts";

/** An operation of the reference with its example. */
export interface ReferenceSample extends DescribedOperation {
  readonly values: SampleValues;
  readonly write: (language: Language, values?: SampleValues) => string | undefined;
}

/** The samples of all operations, as the reference shows them to somebody without records. */
export function readReferenceSamples(): ReferenceSample[] {
  const address = "http://127.0.0.1";
  const operations = readOperations().filter(({ governance }) => !governance.internalOnly);
  const servers = { production: address, staging: address, local: address };
  const document = buildOpenApi({ operations, servers, errorsUrl: `${address}/errors`, version: "1" });
  return describeOperations(document, operations).map((described) => {
    const values = exampleValues(described, parametersOf(document, described.object));
    return { ...described, values, write: (language, own = values) => writeSample(language, described.sampled, own) };
  });
}
