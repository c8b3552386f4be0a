import fc from "fast-check";

// Random cases use the same seed in every `npm test`, and a new one in `npm run test:fuzz`.
fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? 1) });

/** fast-check, configured with the seed of the run. */
export { fc };
