// Data flows one way: definitions -> gateway -> chain -> handler -> service -> domain / store.
const below = (name, from, to) => ({ name, severity: "error", from: { path: from }, to: { path: to } });

export default {
  forbidden: [
    {
      name: "no-import-cycles",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    below("errors-import-nothing-above", "^src/errors", "^src/(?!errors)"),
    below(
      "platform-imports-nothing-above",
      "^src/platform/(?!.*\\.test\\.ts$)",
      "^src/(?!platform|errors)|^gen/service/api",
    ),
    below("definitions-import-nothing-above", "^src/definitions", "^src/(?!definitions)"),
    below("config-imports-nothing-above", "^src/config", "^src/(?!config|platform/text)"),
    below("chain-imports-no-module", "^src/chain", "^src/(modules|gateway|app|cli)"),
    below("gateway-imports-no-module", "^src/gateway", "^src/(modules|app|cli)"),
    below("modules-import-no-surface", "^src/modules", "^src/(gateway|app|cli)"),
    below("app-imports-no-cli", "^src/app", "^src/cli"),
    {
      name: "modules-import-each-other-through-index",
      severity: "error",
      from: { path: "^src/modules/([^/]+)/([^/]+)/" },
      to: { path: "^src/modules/$1/[^/]+/(?!index\\.ts$)", pathNot: "^src/modules/$1/$2/" },
    },
    {
      name: "area-index-imports-modules-through-index",
      severity: "error",
      from: { path: "^src/modules/([^/]+)/index\\.ts$" },
      to: { path: "^src/modules/$1/[^/]+/(?!index\\.ts$)" },
    },
    {
      name: "modules-do-not-import-their-own-area",
      severity: "error",
      from: { path: "^src/modules/([^/]+)/[^/]+/" },
      to: { path: "^src/modules/$1/index\\.ts$" },
    },
    {
      name: "areas-import-each-other-through-index",
      severity: "error",
      from: { path: "^src/modules/([^/]+)/" },
      to: { path: "^src/modules/[^/]+/(?!index\\.ts$)", pathNot: "^src/modules/$1/" },
    },
    {
      name: "areas-import-each-other-as-types",
      severity: "error",
      from: { path: "^src/modules/([^/]+)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/modules/[^/]+/", pathNot: "^src/modules/$1/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "app-and-cli-import-areas-through-index",
      severity: "error",
      from: { path: "^src/(app|cli)" },
      to: { path: "^src/modules/[^/]+/(?!index\\.ts$)" },
    },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^src/modules/.+/domain/", pathNot: "\\.test\\.ts$" },
      to: {
        // The statistics of experiments are pure as a whole.
        path: "^src/(?!errors|modules/[^/]+/[^/]+/domain/|modules/experiments/analysis/|platform/(access|backoff|cache|canary|cel|crypto|document|hashing|json-schema|cron|text|time-zone)/)",
        dependencyTypesNot: ["type-only"],
      },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js", ".mjs"],
    },
  },
};
