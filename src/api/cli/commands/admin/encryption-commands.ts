/** Commands that encrypt the database, decrypt it, or give it another key. */
import { AppError } from '../../../../lib/errors.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import type { EncryptionResult, NewKey, ProgressHandler } from '../../database.ts'
import { createProgressLine, formatPercent } from '../../output/progress-line.ts'
import { formatNumber } from '../../output/text-rendering.ts'

export const NEW_KEY_OPTIONS = {
  'new-key-file': { kind: 'value', value: 'file', help: 'The file with the key to encrypt with.' },
  'generate-key-file': {
    kind: 'value',
    value: 'file',
    help: 'Make a new random key in this file.',
  },
} as const

export const encryptCommand = defineCommand({
  name: 'encrypt',
  group: 'Upkeep',
  summary: 'Encrypt the database in place.',
  details:
    'The key comes from `--generate-key-file`, `--new-key-file`, `--key-file` or the environment; without one, a ' +
    'passphrase is asked for twice. Nothing else may have the database open.',
  arguments: [],
  options: NEW_KEY_OPTIONS,
  examples: ['recollect encrypt --generate-key-file ~/recollect.key', 'recollect encrypt'],
  isLocalOnly: true,
  async run(call) {
    const { database, keyOrigin } = call.getEnvironment()
    if (database.state() === 'encrypted') {
      throw new AppError('conflict', 'The database is encrypted already. `rekey` changes its key.')
    }
    const key =
      parseNewKey(call) ?? (keyOrigin === null ? await askKey(call) : { kind: 'configured' })
    const converted = await shown(call, 'Encrypting', (show) => database.encrypt(key, show))
    return answer(call, converted, 'Encrypted', key, keyOrigin)
  },
})

export const rekeyCommand = defineCommand({
  name: 'rekey',
  group: 'Upkeep',
  summary: 'Give the encrypted database another key.',
  details:
    'The key it has now comes from `--key-file` or the environment, the new one from `--new-key-file` or ' +
    '`--generate-key-file`; what is missing is asked for. Nothing else may have the database open.',
  arguments: [],
  options: NEW_KEY_OPTIONS,
  examples: ['recollect rekey --key-file old.key --generate-key-file new.key'],
  isLocalOnly: true,
  async run(call) {
    const { database } = call.getEnvironment()
    if (database.state() === 'plain') {
      throw new AppError('conflict', 'The database is not encrypted. `encrypt` does that.')
    }
    const key = parseNewKey(call) ?? (await askKey(call))
    const converted = await shown(call, 'Encrypting anew', (show) => database.rekey(key, show))
    return answer(call, converted, 'Changed the key of', key, null)
  },
})

export const decryptCommand = defineCommand({
  name: 'decrypt',
  group: 'Upkeep',
  summary: 'Take the encryption off the database, in place.',
  details: 'The key comes from `--key-file` or the environment, or is asked for.',
  arguments: [],
  options: {},
  examples: ['recollect decrypt --key-file ~/recollect.key'],
  isLocalOnly: true,
  async run(call) {
    const { database } = call.getEnvironment()
    const { isChanged } = await shown(call, 'Decrypting', (show) => database.decrypt(show))
    const text = isChanged
      ? `Decrypted ${database.file}. Who can read the file can now read the memories.`
      : `${database.file} was not encrypted.`
    return { json: { file: database.file, changed: isChanged }, text }
  },
})

export function parseNewKey(call: Invocation<typeof NEW_KEY_OPTIONS>): NewKey | null {
  const { 'new-key-file': file, 'generate-key-file': generated } = call.options
  if (file !== undefined && generated !== undefined) {
    throw new UsageError('Give --new-key-file or --generate-key-file, not both.')
  }
  if (generated !== undefined) return { kind: 'generated', path: generated }
  return file === undefined ? null : { kind: 'file', path: file }
}

async function askKey(call: Invocation): Promise<NewKey> {
  const { host } = call
  if (!host.stdin.isTerminal || !host.stderr.isTerminal) {
    throw new UsageError(
      'There is no new key, and no terminal to ask for a passphrase.',
      'Give --generate-key-file or --new-key-file.',
    )
  }
  const passphrase = await host.askSecret('New passphrase: ')
  if ((await host.askSecret('The same again: ')) !== passphrase) {
    throw new UsageError('The two passphrases differ. Nothing was changed.')
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
    ...plainCopies.map((copy) => `Not encrypted, remove it when you no longer need it: ${copy}`),
  ]
  return { json: { file, changed: isChanged, plainCopies }, text: lines.join('\n') }
}

function keepSafe(key: NewKey, keyOrigin: string | null): string {
  const loss = 'Without it, nobody can read the memories again, and neither can you.'
  switch (key.kind) {
    case 'generated':
    case 'file':
      return `Keep a copy of ${key.path} in a safe place. ${loss}\nFrom now on give it: --key-file ${key.path}, or RECOLLECT_KEY_FILE.`
    case 'passphrase':
      return `Keep the passphrase in a safe place. ${loss}`
    case 'configured':
      return `Keep the key (${keyOrigin ?? 'as given'}) in a safe place. ${loss}`
  }
}
