/** Commands for API keys, owners and the audit log. */
import type { z } from 'zod'
import { ROLES } from '../../../../domain/access.ts'
import {
  createKey,
  eraseOwner,
  listAudit,
  listKeys,
  listOwners,
  revokeKey,
} from '../../../operations/admin/key-operations.ts'
import {
  assertLocal,
  type CommandResult,
  confirmAction,
  defineCommand,
  type Invocation,
  UsageError,
  YES_OPTION,
} from '../../command.ts'
import { parseAction, parseChoice, parseInteger } from '../../input/option-values.ts'
import { formatAge, formatTime, parseTime } from '../../input/time-format.ts'
import {
  formatCount,
  formatMemoryCount,
  formatNumber,
  quoteForShell,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'

const KEY_ACTIONS = ['list', 'create', 'revoke', 'reset'] as const
const KEY_OPTIONS = {
  home: {
    kind: 'value',
    value: 'owner',
    help: 'The default owner of the key. Default: --owner.',
  },
  role: { kind: 'value', value: 'role', help: `One of ${ROLES.join(', ')}. Default: user.` },
  'acts-for': {
    kind: 'values',
    value: 'owners',
    help: 'Additional owners, comma-separated; repeatable. `*`: every owner, also new ones.',
  },
  expires: { kind: 'value', value: 'when', help: 'Expiry: 90d, 2026-12-01. Default: never.' },
  ...YES_OPTION,
} as const

type KeysCall = Invocation<typeof KEY_OPTIONS>
type Key = z.output<(typeof listKeys)['output']>['keys'][number]

export const keysCommand = defineCommand({
  name: 'keys',
  group: 'Server',
  summary: 'List, create and revoke API keys.',
  details:
    'A `reader` reads, an `agent` also writes, a `user` also deletes, exports and ' +
    'changes settings, each for the owners of the key; a `superadmin` may do everything ' +
    'for all owners. A secret is shown once, at creation. `reset` creates a new ' +
    'management key and revokes the previous one; it works only on the machine with the ' +
    'database.',
  arguments: [
    { name: 'action', help: `One of ${KEY_ACTIONS.join(', ')}. Default: list.` },
    { name: 'name', help: 'The name of a new key, or the id of the key to revoke.' },
  ],
  options: KEY_OPTIONS,
  examples: [
    'recollect keys',
    'recollect keys create "my laptop" --home ada --role agent --expires 90d',
    'recollect keys revoke key_01kabc…',
    'recollect keys reset',
  ],
  async run(call) {
    const [action, name] = call.positionals
    switch (parseAction('keys', action, KEY_ACTIONS)) {
      case 'list':
        return listedKeys(call)
      case 'create':
        return createdKey(call, required(name, '`keys create` requires a <name>.'))
      case 'revoke':
        return revokedKey(call, required(name, '`keys revoke` requires the <id> of a key.'))
      case 'reset':
        return resetKey(call)
    }
  },
})

function required(word: string | undefined, message: string): string {
  if (word === undefined) throw new UsageError(message, 'Run `recollect help keys`.')
  return word
}

async function listedKeys(call: KeysCall): Promise<CommandResult> {
  const output = await call.perform(listKeys, {})
  if (output.keys.length === 0) {
    const text = 'No keys yet. `recollect serve` creates the first one at startup.'
    return { json: output, text }
  }
  const now = call.host.now()
  const rows = output.keys.map((key) => [
    { text: key.id },
    { text: key.role },
    { text: toTerminalLine([key.home, ...key.actsFor].join(', ')) },
    { text: key.lastUsedAt === null ? 'never' : formatAge(Date.parse(key.lastUsedAt), now) },
    { text: expiryOf(key, now) },
    { text: toTerminalLine(key.name) + (key.isManagement ? ' (management)' : '') },
  ])
  const head = ['ID', 'ROLE', 'OWNERS', 'LAST USED', 'EXPIRES', 'NAME']
  return { json: output, text: renderTable(call.style, head, rows) }
}

function expiryOf({ expiresAt }: Key, now: number): string {
  if (expiresAt === null) return 'never'
  const at = Date.parse(expiresAt)
  return at <= now ? 'expired' : formatTime(at).slice(0, 10)
}

async function createdKey(call: KeysCall, name: string): Promise<CommandResult> {
  const { home, role, expires } = call.options
  const actsFor = call.options['acts-for'].flatMap((text) => text.split(',')).filter((each) => each)
  const output = await call.perform(createKey, {
    name,
    home: home ?? call.getEnvironment().scope.owner,
    actsFor,
    ...(role === undefined ? {} : { role: parseChoice('role', role, ROLES) }),
    ...(expires === undefined
      ? {}
      : { expiresAt: parseTime('expires', expires, call.host.now(), 'ahead') }),
  })
  const { key, secret } = output
  const lines = [
    `Created ${key.id} (${key.role} of ${toTerminalLine(key.home)}). The secret is shown only once:`,
    '',
    `  ${call.style.bold(secret)}`,
    '',
    'Send it as `Authorization: Bearer …`; for the CLI set RECOLLECT_API_KEY or --key.',
  ]
  return { json: output, text: lines.join('\n') }
}

async function revokedKey(call: KeysCall, id: string): Promise<CommandResult> {
  const output = await call.perform(revokeKey, { id })
  return {
    json: output,
    text: `Revoked ${id} (${toTerminalLine(output.key.name)}). It opens nothing now.`,
  }
}

/** Recovers a lost management key: access to the machine is the authorization. */
async function resetKey(call: KeysCall): Promise<CommandResult> {
  assertLocal(call, '`keys reset`')
  const question = 'Create a new management key? The previous one is revoked at once.'
  await confirmAction(call, question, 'Nothing was changed.')
  const engine = await call.getEnvironment().database.openEngine({ create: true })
  try {
    const secret = await engine.admin.keys.resetManagement()
    const text = [
      'The previous management key was revoked. The new secret is shown only once:',
      '',
      `  ${call.style.bold(secret)}`,
    ].join('\n')
    return { json: { secret }, text }
  } finally {
    await engine.close()
  }
}

const OWNER_ACTIONS = ['list', 'erase'] as const
const OWNER_OPTIONS = {
  'dry-run': { kind: 'flag', help: 'Only count.' },
  ...YES_OPTION,
} as const

export const ownersCommand = defineCommand({
  name: 'owners',
  group: 'Server',
  summary: 'List owners, or erase one permanently.',
  details:
    '`owners erase <owner>` permanently removes memories, history, conversations, ' +
    'settings and keys. It asks for confirmation; without a terminal it needs `--yes`.',
  arguments: [
    { name: 'action', help: `One of ${OWNER_ACTIONS.join(', ')}. Default: list.` },
    { name: 'owner', help: 'The owner to erase.' },
  ],
  options: OWNER_OPTIONS,
  examples: ['recollect owners', 'recollect owners erase ada --dry-run'],
  async run(call) {
    const [action, owner] = call.positionals
    if (parseAction('owners', action, OWNER_ACTIONS) === 'list') return listedOwners(call)
    return erasedOwner(call, required(owner, '`owners erase` requires an <owner>.'))
  },
})

async function listedOwners(call: Invocation): Promise<CommandResult> {
  const output = await call.perform(listOwners, {})
  const rows = output.owners.map(({ owner, user, memories: number, turns }) => [
    { text: toTerminalLine(owner) },
    { text: user === null ? '' : toTerminalLine(user) },
    { text: formatNumber(number) },
    { text: formatNumber(turns) },
  ])
  const text =
    rows.length === 0
      ? 'No owners yet.'
      : renderTable(call.style, ['OWNER', 'USER', 'MEMORIES', 'TURNS'], rows)
  return { json: output, text }
}

async function erasedOwner(
  call: Invocation<typeof OWNER_OPTIONS>,
  owner: string,
): Promise<CommandResult> {
  const counted = await call.perform(eraseOwner, { owner, dryRun: true })
  const found = rowsText(counted.rows)
  if (found === '') return { json: counted, text: `Owner ${quoteForShell(owner)} has no data.` }
  if (call.options['dry-run']) {
    return { json: counted, text: `Would erase ${found}. Nothing was changed.` }
  }
  const question = `Erase everything of ${quoteForShell(owner)} (${found})? It can't be undone.`
  await confirmAction(call, question, 'Nothing was erased.')
  const erased = await call.perform(eraseOwner, { owner })
  return { json: erased, text: `Erased ${rowsText(erased.rows)} permanently.` }
}

const ROW_NAMES: { readonly [table: string]: readonly [one: string, many: string] } = {
  memory: ['memory', 'memories'],
  revision: ['earlier version', 'earlier versions'],
  tombstone: ['tombstone', 'tombstones'],
  turn: ['message', 'messages'],
  entry: ['setting, key or receipt', 'settings, keys and receipts'],
}

function rowsText(rows: { readonly [table: string]: number }): string {
  return Object.entries(rows)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => {
      const [one, many] = ROW_NAMES[name] ?? [name, name]
      return formatCount(number, one, many)
    })
    .join(', ')
}

const AUDIT_LIMIT = 50
const AUDIT_LIMIT_MAX = 1_000

export const auditCommand = defineCommand({
  name: 'audit',
  group: 'Server',
  summary: 'Show the audit log, newest first.',
  details:
    'Entries contain ids and never text. They cover all owners, or one with `--owner`, ' +
    'and are kept for `retention.auditDays`.',
  arguments: [],
  options: {
    from: { kind: 'value', value: 'when', help: 'Only entries since: 3d (ago), 2026-12-01.' },
    before: { kind: 'value', value: 'when', help: 'Only entries before.' },
    limit: {
      kind: 'value',
      value: 'n',
      help: `Maximum number of entries. Default: ${AUDIT_LIMIT}.`,
    },
    after: { kind: 'value', value: 'id', help: 'Continue after this entry.' },
  },
  examples: ['recollect audit', 'recollect audit --owner ada --from 7d --json'],
  async run(call) {
    const { from, before, limit, after } = call.options
    const { owner } = call.getEnvironment().explicitScope
    const now = call.host.now()
    const output = await call.perform(listAudit, {
      limit: limit === undefined ? AUDIT_LIMIT : parseInteger('limit', limit, 1, AUDIT_LIMIT_MAX),
      ...(owner === undefined ? {} : { owner }),
      ...(from === undefined ? {} : { from: parseTime('from', from, now, 'back') }),
      ...(before === undefined ? {} : { before: parseTime('before', before, now, 'back') }),
      ...(after === undefined ? {} : { after }),
    })
    if (output.entries.length === 0) return { json: output, text: 'The audit log is empty.' }
    const rows = output.entries.map(
      ({ at, actor, operation, owner: whose, targets, targetCount }) => [
        { text: formatTime(Date.parse(at)) },
        { text: actor ?? 'this machine' },
        { text: operation },
        { text: toTerminalLine(whose) },
        {
          text: targetCount === 1 ? toTerminalLine(targets[0] ?? '') : memoriesOrMore(targetCount),
        },
      ],
    )
    const lines = [renderTable(call.style, ['WHEN', 'WHO', 'WHAT', 'OWNER', 'TO'], rows)]
    if (output.next !== null) {
      lines.push('', `More: ${call.suggestCommand(`audit --after ${output.next}`)}`)
    }
    return { json: output, text: lines.join('\n') }
  },
})

function memoriesOrMore(number: number): string {
  return number === 0 ? 'nothing' : formatMemoryCount(number)
}
