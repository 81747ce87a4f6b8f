/** Shell completion scripts, generated from the command table. */

import { findClosestMatch } from '../../../../lib/closest-match.ts'
import { type Command, defineCommand, type Options, UsageError } from '../../command.ts'
import { GLOBAL_OPTIONS } from '../../input/command-line.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export function createCompletionCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'completion',
    group: 'Administration',
    summary: 'Print a shell completion script.',
    details:
      'For bash: `eval "$(recollect completion bash)"` in ~/.bashrc. For zsh: the same with zsh in ~/.zshrc, after ' +
      '`compinit`. For fish: `recollect completion fish > ~/.config/fish/completions/recollect.fish`.',
    arguments: [{ name: 'shell', help: `One of ${SHELLS.join(', ')}.`, isRequired: true }],
    options: {},
    examples: ['eval "$(recollect completion bash)"', 'recollect completion fish'],
    async run(call) {
      const [word = ''] = call.positionals
      const shell = SHELLS.find((name) => name === word)
      if (shell === undefined) {
        const meant = findClosestMatch(word, SHELLS)
        const suggestion = meant === null ? '' : ` Did you mean ${meant}?`
        throw new UsageError(
          `No completion for "${word.slice(0, 40)}".${suggestion}`,
          `Shells: ${SHELLS.join(', ')}.`,
        )
      }
      const script = SCRIPTS[shell](commands())
      return { json: { shell, script }, text: script }
    },
  })
}

const SCRIPTS: { readonly [Name in Shell]: (commands: readonly Command[]) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

function optionNames(options: Options): readonly string[] {
  return Object.keys(options).map((name) => `--${name}`)
}

/** Options with a file argument. */
const FILE_VALUES: ReadonlySet<string> = new Set(['file', 'folder'])

function fileOptions(commands: readonly Command[]): readonly string[] {
  const all = [GLOBAL_OPTIONS, ...commands.map(({ options }) => options)]
  const names = all.flatMap((options: Options) =>
    Object.entries(options).flatMap(([name, option]) =>
      option.kind !== 'flag' && FILE_VALUES.has(option.value) ? [`--${name}`] : [],
    ),
  )
  return [...new Set(names)]
}

function bashScript(commands: readonly Command[]): string {
  const cases = commands.map(
    ({ name, options }) => `    ${name}) options='${optionNames(options).join(' ')}' ;;`,
  )
  return `_recollect() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local command='' options='' each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$each" in
      ${commands.map(({ name }) => name).join('|')}) command="$each"; break ;;
    esac
  done
  case "$before" in
    ${fileOptions(commands).join('|')}) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  case "$command" in
    '') COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} ${optionNames(GLOBAL_OPTIONS).join(' ')}' -- "$word")); return ;;
    help) COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$word")); return ;;
${cases.join('\n')}
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$options ${optionNames(GLOBAL_OPTIONS).join(' ')}" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o default -F _recollect recollect`
}

/** Quotes text for single quotes, including zsh's \`name:help\` pairs. */
function quotedHelp(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(':', '\\:')
}

function zshScript(commands: readonly Command[]): string {
  const described = commands.map(({ name, summary }) => `    '${name}:${quotedHelp(summary)}'`)
  const optionLines = (options: Options) =>
    Object.entries(options)
      .map(([name, option]) => {
        const help = option.help.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, '\\$&')
        const action = option.kind === 'flag' ? '' : `:${option.value}:${zshAction(option.value)}`
        return `      '*--${name}[${help}]${action}' \\`
      })
      .join('\n')
  const cases = commands.map(
    ({ name, options }) =>
      `  ${name}) _arguments \\
${[optionLines(options), optionLines(GLOBAL_OPTIONS)].filter((lines) => lines !== '').join('\n')}
      '*:word:_files' ;;`,
  )
  return `#compdef recollect
_recollect() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  local command="\${words[2]}"
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _recollect recollect`
}

function zshAction(value: string): string {
  return FILE_VALUES.has(value) ? '_files' : ''
}

function fishScript(commands: readonly Command[]): string {
  const text = (words: string) => `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const optionLines = (options: Options, condition: string) =>
    Object.entries(options).map(([name, option]) => {
      const takes = option.kind === 'flag' ? '' : FILE_VALUES.has(option.value) ? ' -r -F' : ' -x'
      return `complete -c recollect${condition} -l ${name}${takes} -d ${text(option.help)}`
    })
  return [
    ...commands.map(
      ({ name, summary }) =>
        `complete -c recollect -f -n __fish_use_subcommand -a ${name} -d ${text(summary)}`,
    ),
    ...optionLines(GLOBAL_OPTIONS, ''),
    ...commands.flatMap(({ name, options }) =>
      optionLines(options, ` -n '__fish_seen_subcommand_from ${name}'`),
    ),
  ].join('\n')
}
