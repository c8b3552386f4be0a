import type { CompletionNode, CompletionOption } from "./completion-tree.ts";

/** Generates the completion script for fish. */
export function fishCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const here = `complete -c service -n ${quoted(`__service_is ${quoted(path)}`)}`;
    return [
      ...commands.map(({ name, summary }) => `${here} -a ${name} -d ${quoted(summary)}`),
      ...options.map(
        (option) => `${here} -l ${option.flag.slice(2)}${valueFlags(option)} -d ${quoted(option.summary)}`,
      ),
    ];
  });
  return `# fish completion for service. Load it with: service completion fish | source
function __service_is
  set -l at ""
  set -l words (commandline -opc)
  for word in $words[2..]
    set -l next (string trim -- "$at $word")
    switch $next
      case ${paths.join(" ")}
        set at $next
    end
  end
  test "$at" = "$argv[1]"
end
complete -c service -f
${lines.join("\n")}
`;
}

function valueFlags({ value }: CompletionOption): string {
  if (value === "none") return "";
  if (value === "file") return " -rF";
  return value === "any" ? " -x" : ` -x -a ${quoted(value.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
