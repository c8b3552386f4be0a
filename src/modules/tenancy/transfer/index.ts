/**
 * Transfer: a tenant as a file, to keep or to import into another installation.
 *
 * Move: an export after which the tenant is suspended at its source, so that its work continues where it is imported.
 * Copy: an export of a tenant that continues at its source; it is suspended where it is imported.
 * Position: the place of a stamp among the stamps of a tenant, valid in every installation.
 */

export { type Suspension, suspendForMove } from "./suspension.ts";
export { type ExportReport, exportTenant, type TransferParts } from "./tenant-export.ts";
export { type ImportReport, importTenant } from "./tenant-import.ts";
