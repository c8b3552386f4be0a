/** What `service complete` prints where the name of a file is expected. */
export const fileMarker = ":file";

/** The completion script of each shell. It has `service complete` find what may come next. */
export const shellScripts = {
  bash: `# bash completion for service. Load it with: source <(service completion bash)
_service() {
  local IFS=$'\\n' found
  found=$(service complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ $found == ${fileMarker} ]]; then
    COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  else
    COMPREPLY=($(cut -f 1 <<< "$found"))
  fi
}
complete -F _service service
`,
  zsh: `#compdef service
# zsh completion for service. Load it with: source <(service completion zsh)
_service() {
  local found line
  local -a words_found
  found=$(service complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ $found == ${fileMarker} ]]; then
    _files
    return
  fi
  for line in "\${(@f)found}"; do
    words_found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe word words_found
}
compdef _service service
`,
  fish: `# fish completion for service. Load it with: service completion fish | source
function __service_complete
  set -l words (commandline -opc)
  set -l found (service complete -- $words[2..] (commandline -ct) 2>/dev/null)
  if test "$found" = ${fileMarker}
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c service -f -a '(__service_complete)'
`,
} as const;
