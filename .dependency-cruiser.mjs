// Data flows one way: definitions -> gateway -> chain -> handler -> service -> domain / store.
const below = (name, from, to) => ({ name, severity: "error", from: { path: from }, to: { path: to } });

export default {
  forbidden: [
    {
      name: "no-circles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    below("errors-know-nobody", "^src/errors", "^src/(?!errors)"),
    below(
      "platform-knows-nobody-above",
      "^src/platform/(?!.*\\.test\\.ts$)",
      "^src/(?!platform|errors)|^gen/service/api",
    ),
    below("definitions-know-nobody-above", "^src/definitions", "^src/(?!definitions)"),
    below("config-knows-nobody-above", "^src/config", "^src/(?!config)"),
    below("chain-knows-no-module", "^src/chain", "^src/(modules|gateway|app|cli)"),
    below("gateway-knows-no-module", "^src/gateway", "^src/(modules|app|cli)"),
    below("modules-know-no-surface", "^src/modules", "^src/(gateway|app|cli)"),
    below("app-knows-no-cli", "^src/app", "^src/cli"),
    {
      name: "modules-see-doors-only",
      severity: "error",
      from: { path: "^src/modules/([^/]+)/" },
      to: { path: "^src/modules/([^/]+)/(?!index\\.ts$)", pathNot: "^src/modules/$1/" },
    },
    {
      name: "modules-see-doors-as-types",
      severity: "error",
      from: { path: "^src/modules/([^/]+)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/modules/", pathNot: "^src/modules/$1/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "others-see-doors-only",
      severity: "error",
      from: { path: "^src/(app|cli)" },
      to: { path: "^src/modules/[^/]+/(?!index\\.ts$)" },
    },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^src/modules/[^/]+/domain/", pathNot: "\\.test\\.ts$" },
      to: {
        path: "^src/(?!errors|modules/[^/]+/domain/|platform/(access|cel|crypto)/)",
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
