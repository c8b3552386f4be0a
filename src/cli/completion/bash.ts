import type { CompletionNode } from "./completion-tree.ts";

/** Generates the completion script for bash. */
export function bashCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.filter(({ path }) => path !== "").map(({ path }) => JSON.stringify(path));
  const values = nodes.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) => {
      const where = JSON.stringify(`${path}:${flag}`);
      if (value === "none") return [];
      if (value === "file") return `    ${where}) COMPREPLY=($(compgen -f -- "$cur")); return ;;`;
      if (value === "any") return `    ${where}) return ;;`;
      return `    ${where}) COMPREPLY=($(compgen -W "${value.join(" ")}" -- "$cur")); return ;;`;
    }),
  );
  const words = nodes.map(({ path, commands, options }) => {
    const names = commands.map(({ name }) => name).join(" ");
    return `    ${JSON.stringify(path)}) commands="${names}"; options="${options.map(({ flag }) => flag).join(" ")}" ;;`;
  });
  return `# bash completion for service. Load it with: source <(service completion bash)
_service() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at="" word commands="" options=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${at:+$at }$word" in
      ${paths.join("|")}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at:$prev" in
${values.join("\n")}
  esac
  case "$at" in
${words.join("\n")}
  esac
  if [[ $cur == -* || -z $commands ]]; then commands=$options; fi
  COMPREPLY=($(compgen -W "$commands" -- "$cur"))
}
complete -F _service service
`;
}
