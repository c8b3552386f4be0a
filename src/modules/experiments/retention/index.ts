/**
 * Retention: what is left of experiments that ended long ago.
 *
 * Exposures and scores are removed, because there are many of them. The design, the results, their history and the decision stay.
 */
export { deleteUnitsOfEndedJob } from "./retention-job.ts";
