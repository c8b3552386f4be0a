import type { CompletionNode } from "./completion-tree.ts";

/** Generates the completion script for zsh. */
export function zshCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const values = nodes.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) => {
      const where = quoted(`${path}:${flag}`);
      if (value === "none") return [];
      if (value === "file") return `    (${where}) _files; return ;;`;
      if (value === "any") return `    (${where}) return ;;`;
      return `    (${where}) compadd -- ${value.map(quoted).join(" ")}; return ;;`;
    }),
  );
  const words = nodes.map(
    ({ path, commands, options }) => `    (${quoted(path)})
      commands=(${commands.map(({ name, summary }) => described(name, summary)).join(" ")})
      options=(${options.map(({ flag, summary }) => described(flag, summary)).join(" ")}) ;;`,
  );
  return `#compdef service
# zsh completion for service. Load it with: source <(service completion zsh)
_service() {
  local at="" word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      (${paths.join("|")}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${values.join("\n")}
  esac
  case "$at" in
${words.join("\n")}
  esac
  if [[ $PREFIX == -* || \${#commands} -eq 0 ]]; then
    _describe -o option options
  else
    _describe command commands
  fi
}
compdef _service service
`;
}

function described(name: string, summary: string): string {
  return quoted(`${name.replaceAll(":", "\\:")}:${summary}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
