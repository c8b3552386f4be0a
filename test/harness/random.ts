import fc from "fast-check";

// Random cases start from the same number in every `npm test`, and from a fresh one in `npm run test:fuzz`.
fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? 1) });

/** fast-check, with the seed of the run. */
export { fc };
