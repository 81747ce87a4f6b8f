/** Translates field names in errors into the flags and variables that a user can change. */
import type { AppError } from '../../../lib/errors.ts'
import type { Command } from '../command.ts'

/** Option names of operation fields, where they differ from the kebab-case name. */
const FLAGS: { readonly [field: string]: string } = {
  pinned: 'pin',
  expiresAt: 'expires',
  entities: 'entity',
  observedAt: 'said',
  sessionId: 'session',
  version: 'if-version',
  createdBefore: 'older-than',
  apiKeyId: 'owner',
}
const GLOBAL_FIELDS: ReadonlySet<string> = new Set(['owner', 'user', 'session'])

const MESSAGE_REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\ballowDownload\b/g, 'RECOLLECT_EMBEDDING_ALLOW_DOWNLOAD=1'],
]

export function toOptionNames(message: string): string {
  return MESSAGE_REPLACEMENTS.reduce((text, [word, ours]) => text.replace(word, ours), message)
}

/** The flags of the invalid fields; null when the message is sufficient. */
export function optionHint({ details, message }: AppError, command: Command | null) {
  const flags = details.flatMap(({ field }) => {
    const [name = ''] = field.split('.')
    const flag = FLAGS[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const isKnown = Object.hasOwn(command?.options ?? {}, flag) || GLOBAL_FIELDS.has(flag)
    return isKnown && !message.includes(`--${flag}`) ? [`--${flag}`] : []
  })
  return flags.length === 0 ? null : `Check ${[...new Set(flags)].join(', ')}.`
}
