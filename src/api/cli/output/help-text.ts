/** Help and the CLI reference, generated from the command table. */
import type { Command, CommandGroup, Option, Options } from '../command.ts'
import { GLOBAL_OPTIONS, renderUsage } from '../input/command-line.ts'
import type { Style } from './text-rendering.ts'

const LOCAL_ONLY = 'Works on this machine only, not with `--url`.'

const GROUPS: readonly CommandGroup[] = [
  'Write',
  'Read',
  'Edit',
  'Import and export',
  'Server',
  'Administration',
]
const HELP_COLUMNS_MAX = 100
const HELP_COLUMNS = 80

export function renderOverview(commands: readonly Command[], style: Style): string {
  const width = Math.max(...commands.map((command) => command.name.length))
  const groups = GROUPS.map((group) => {
    const lines = commands
      .filter((command) => command.group === group)
      .map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`)
    return [style.bold(group), ...lines].join('\n')
  })
  return [
    'Recollect: long-term memory for LLM apps and agents.',
    'Usage: recollect <command> [options]',
    ...groups,
    [style.bold('Global options'), optionLines(GLOBAL_OPTIONS, style)].join('\n'),
    'Run `recollect help <command>` for details.',
  ].join('\n\n')
}

export function renderCommandHelp(command: Command, style: Style): string {
  const columns = Math.min(style.columns ?? HELP_COLUMNS, HELP_COLUMNS_MAX)
  const words = command.arguments.map(({ name, help }) => [`<${name}>`, help] as const)
  const sections = [
    `Usage: ${renderUsage(command)}`,
    [command.summary, ...detailsOf(command)].map((text) => wrap(text, columns)).join('\n\n'),
    ...(words.length === 0 ? [] : [[style.bold('Arguments'), pairLines(words, style)].join('\n')]),
    ...(Object.keys(command.options).length === 0
      ? []
      : [[style.bold('Options'), optionLines(command.options, style)].join('\n')]),
    [style.bold('Examples'), ...command.examples.map((example) => `  ${example}`)].join('\n'),
    style.dim('`recollect help` lists the global options.'),
  ]
  return sections.join('\n\n')
}

function detailsOf({ details, isLocalOnly: isLocal }: Command): readonly string[] {
  return [...(details === undefined ? [] : [details]), ...(isLocal === true ? [LOCAL_ONLY] : [])]
}

function optionLines(options: Options, style: Style): string {
  return pairLines(optionPairs(options), style)
}

function optionForm(name: string, option: Option): string {
  return option.kind === 'flag' ? `--${name}` : `--${name} <${option.value}>`
}

function pairLines(pairs: readonly (readonly [string, string])[], style: Style): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  const columns = Math.min(style.columns ?? HELP_COLUMNS_MAX, HELP_COLUMNS_MAX)
  return pairs
    .map(([name, help]) => {
      const indent = ' '.repeat(width + 4)
      return `  ${name.padEnd(width)}  ${wrap(help, Math.max(20, columns - indent.length)).replaceAll('\n', `\n${indent}`)}`
    })
    .join('\n')
}

function wrap(text: string, columns: number): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}

/** The reference section of `docs/reference/cli.md`. */
export function renderMarkdownReference(commands: readonly Command[]): string {
  const sections = commands.map((command) =>
    [
      `### ${command.name}`,
      [command.summary, ...detailsOf(command)].join(' '),
      `\`\`\`\n${[renderUsage(command), '', ...command.examples].join('\n')}\n\`\`\``,
      ...markdownTable([
        ...command.arguments.map(({ name, help }) => [`<${name}>`, help] as const),
        ...optionPairs(command.options),
      ]),
    ].join('\n\n'),
  )
  const globals = markdownTable(optionPairs(GLOBAL_OPTIONS))
  return ['### Global options', ...globals, ...sections].join('\n\n')
}

function optionPairs(options: Options): readonly (readonly [string, string])[] {
  return Object.entries(options).map(([name, option]) => [optionForm(name, option), option.help])
}

function markdownTable(pairs: readonly (readonly [string, string])[]) {
  if (pairs.length === 0) return []
  const rows = pairs.map(([name, help]) => `| \`${name}\` | ${help.replaceAll('|', '\\|')} |`)
  return [['| | |', '|---|---|', ...rows].join('\n')]
}
