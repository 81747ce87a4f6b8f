import { findClosestMatch } from '../../../lib/closest-match.ts'
import { type Invocation, UsageError } from '../command.ts'

const LIMIT = 50
const LIMIT_MAX = 200

export function parseNumber(option: string, text: string): number {
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(number)) {
    throw new UsageError(`--${option} must be a number; got "${text.slice(0, 40)}".`)
  }
  return number
}

export function parseInteger(option: string, text: string, min: number, max: number): number {
  const number = parseNumber(option, text)
  if (!Number.isInteger(number) || number < min || number > max) {
    throw new UsageError(`--${option} must be an integer from ${min} to ${max}.`)
  }
  return number
}

export function parseChoice<Word extends string>(
  option: string,
  word: string,
  words: readonly Word[],
): Word {
  const found = words.find((candidate) => candidate === word)
  if (found !== undefined) return found
  const meant = findClosestMatch(word, words)
  throw new UsageError(
    `--${option} does not accept "${word.slice(0, 40)}".${meant === null ? '' : ` Did you mean ${meant}?`}`,
    `Valid values: ${words.join(', ')}.`,
  )
}

/** The action of a command with several; default: the first. */
export function parseAction<Action extends string>(
  command: string,
  word: string | undefined,
  actions: readonly [Action, ...Action[]],
): Action {
  if (word === undefined) return actions[0]
  const found = actions.find((action) => action === word)
  if (found !== undefined) return found
  const meant = findClosestMatch(word, actions)
  throw new UsageError(
    `\`${command}\` has no action "${word.slice(0, 40)}".${meant === null ? '' : ` Did you mean \`${command} ${meant}\`?`}`,
    `Actions: ${actions.join(', ')}.`,
  )
}

export const PAGE_OPTIONS = {
  limit: { kind: 'value', value: 'n', help: `Maximum number of results. Default: ${LIMIT}.` },
  after: { kind: 'value', value: 'id', help: 'Continue after this result.' },
} as const

export function parsePage({ limit, after }: Invocation<typeof PAGE_OPTIONS>['options']) {
  return {
    limit: limit === undefined ? LIMIT : parseInteger('limit', limit, 1, LIMIT_MAX),
    ...(after === undefined ? {} : { after }),
  }
}

export function requireId(
  call: Invocation,
  command: string,
  action: string,
  id: string | undefined,
): string {
  if (id !== undefined) return id
  const hint = `Run \`${call.suggestCommand(command)}\`.`
  throw new UsageError(`\`${command} ${action}\` requires an <id>.`, hint)
}
