/** Commands that encrypt, decrypt and rekey the database. */
import { AppError } from '../../../../lib/errors.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import type { EncryptionResult, NewKey, ProgressHandler } from '../../database.ts'
import { createProgressLine, formatPercent } from '../../output/progress-line.ts'
import { formatNumber } from '../../output/text-rendering.ts'

export const NEW_KEY_OPTIONS = {
  'new-key-file': { kind: 'value', value: 'file', help: 'The key file to encrypt with.' },
  'generate-key-file': {
    kind: 'value',
    value: 'file',
    help: 'Generate a random key into this file.',
  },
} as const

const OPTIONS = {
  ...NEW_KEY_OPTIONS,
  keychain: {
    kind: 'flag',
    help: 'Generate a random key into the keychain of the system, which then opens the database.',
  },
} as const

export const encryptCommand = defineCommand({
  name: 'encrypt',
  group: 'Administration',
  summary: 'Encrypt the database in place.',
  details:
    'The key comes from `--keychain`, `--generate-key-file`, `--new-key-file`, ' +
    '`--encryption-key-file` or the environment; otherwise the command prompts for a passphrase. No other ' +
    'process may have the database open.',
  arguments: [],
  options: OPTIONS,
  examples: [
    'recollect encrypt --generate-key-file ~/recollect.key',
    'recollect encrypt --keychain',
    'recollect encrypt',
  ],
  isLocalOnly: true,
  async run(call) {
    const { database, keyOrigin } = call.getEnvironment()
    if (database.state() === 'encrypted') {
      throw new AppError(
        'conflict',
        'The database is already encrypted. Use `rekey` to change its key.',
      )
    }
    const key =
      parseKeyOption(call) ?? (keyOrigin === null ? await askKey(call) : { kind: 'configured' })
    const converted = await shown(call, 'Encrypting', (show) => database.encrypt(key, show))
    return answer(call, converted, 'Encrypted', key, keyOrigin)
  },
})

export const rekeyCommand = defineCommand({
  name: 'rekey',
  group: 'Administration',
  summary: 'Change the key of an encrypted database.',
  details:
    'The present key comes from `--encryption-key-file` or the environment, the new one ' +
    'from `--new-key-file`, `--generate-key-file` or `--keychain`; the command prompts for a ' +
    'missing one. No other process may have the database open.',
  arguments: [],
  options: OPTIONS,
  examples: ['recollect rekey --encryption-key-file old.key --generate-key-file new.key'],
  isLocalOnly: true,
  async run(call) {
    const { database } = call.getEnvironment()
    if (database.state() === 'plain') {
      throw new AppError('conflict', 'The database is not encrypted. Use `encrypt`.')
    }
    const key = parseKeyOption(call) ?? (await askKey(call))
    const converted = await shown(call, 'Encrypting anew', (show) => database.rekey(key, show))
    return answer(call, converted, 'Changed the key of', key, null)
  },
})

export const decryptCommand = defineCommand({
  name: 'decrypt',
  group: 'Administration',
  summary: 'Decrypt the database in place.',
  details:
    'The key comes from `--encryption-key-file` or the environment; otherwise the ' +
    'command prompts for it.',
  arguments: [],
  options: {},
  examples: ['recollect decrypt --encryption-key-file ~/recollect.key'],
  isLocalOnly: true,
  async run(call) {
    const { database } = call.getEnvironment()
    const { isChanged } = await shown(call, 'Decrypting', (show) => database.decrypt(show))
    const text = isChanged
      ? `Decrypted ${database.file}. Anyone who can read the file can now read the memories.`
      : `${database.file} was not encrypted.`
    return { json: { file: database.file, changed: isChanged }, text }
  },
})

function parseKeyOption(call: Invocation<typeof OPTIONS>): NewKey | null {
  const key = parseNewKey(call)
  if (!call.options.keychain) return key
  if (key === null) return { kind: 'keychain' }
  throw new UsageError('--keychain cannot be combined with a key file.')
}

export function parseNewKey(call: Invocation<typeof NEW_KEY_OPTIONS>): NewKey | null {
  const { 'new-key-file': file, 'generate-key-file': generated } = call.options
  if (file !== undefined && generated !== undefined) {
    throw new UsageError('--new-key-file and --generate-key-file cannot be combined.')
  }
  if (generated !== undefined) return { kind: 'generated', path: generated }
  return file === undefined ? null : { kind: 'file', path: file }
}

async function askKey(call: Invocation): Promise<NewKey> {
  const { host } = call
  if (!host.stdin.isTerminal || !host.stderr.isTerminal) {
    throw new UsageError(
      'A new key is required, and there is no terminal to ask for a passphrase.',
      'Use --keychain, --generate-key-file or --new-key-file.',
    )
  }
  const passphrase = await host.askSecret('New passphrase: ')
  if ((await host.askSecret('Repeat the passphrase: ')) !== passphrase) {
    throw new UsageError('The passphrases differ. Nothing was changed.')
  }
  return { kind: 'passphrase', passphrase }
}

async function shown(
  call: Invocation,
  what: string,
  work: (show: ProgressHandler) => Promise<EncryptionResult>,
): Promise<EncryptionResult> {
  const progress = createProgressLine(call.host)
  try {
    return await work((done, total) =>
      progress.show(`${what}: ${formatNumber(done)} rows${formatPercent(done, total)}`),
    )
  } finally {
    progress.clear()
  }
}

function answer(
  call: Invocation,
  { isChanged, plainCopies }: EncryptionResult,
  what: string,
  key: NewKey,
  keyOrigin: string | null,
): CommandResult {
  const { file } = call.getEnvironment().database
  const lines = [
    isChanged ? `${what} ${file}.` : `${file} already has this key.`,
    ...(isChanged ? [keepSafe(key, keyOrigin)] : []),
    ...plainCopies.map((copy) => `Unencrypted copy; remove it when you no longer need it: ${copy}`),
  ]
  return { json: { file, changed: isChanged, plainCopies }, text: lines.join('\n') }
}

function keepSafe(key: NewKey, keyOrigin: string | null): string {
  const loss = 'Without it, the memories cannot be recovered.'
  switch (key.kind) {
    case 'generated':
    case 'file':
      return `Keep a copy of ${key.path} in a safe place. ${loss}\nFrom now on give it: --encryption-key-file ${key.path}, or RECOLLECT_ENCRYPTION_KEY_FILE.`
    case 'keychain':
      return `The key is in the keychain of this user. ${loss}`
    case 'passphrase':
      return `Keep the passphrase in a safe place. ${loss}`
    case 'configured':
      return `Keep the key (${keyOrigin ?? 'as given'}) in a safe place. ${loss}`
  }
}
