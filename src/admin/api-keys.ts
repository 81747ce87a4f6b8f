/**
 * Keys: what programs present to be let in. A key is `rc_`, its id, and a secret of 256 random bits, shown once; only a
 * hash of the secret is kept. A fast hash is enough, because such a secret can't be guessed from a list.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type ApiKey, ROLES, type Role } from '../domain/access.ts'
import type { EntryOf } from '../domain/entries/entry.ts'
import { type ApiKeyId, parseId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { type Instant, MINUTE_MS } from '../lib/time.ts'
import {
  buildEntryChange,
  buildEntryRemoval,
  getSystemEntry,
  listEntries,
  SYSTEM_SCOPE,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import { createLoginRecords, type LoginRecords } from './logins.ts'

export type ApiKeyInput = {
  /** What it is for, in the words of whoever made it. */
  readonly name: string
  readonly defaultOwner: string
  readonly actsFor?: readonly string[]
  readonly role?: Role
  readonly expiresAt?: number | null
}

export interface ApiKeys {
  /** The secret is in the answer and nowhere else. */
  create(input: ApiKeyInput): Promise<{ readonly key: ApiKey; readonly secret: string }>
  /** The key behind a secret; null when there is none, or no longer. */
  verify(secret: string): Promise<ApiKey | null>
  list(): Promise<readonly ApiKey[]>
  revoke(id: string): Promise<ApiKey>
  /** A key for the whole system when there is none that works yet. Its secret, or null when one was made before. */
  ensureManagement(): Promise<string | null>
  /** Makes a new key for the whole system and revokes the former one. */
  resetManagement(): Promise<string>
  /** Who is signed in with one, in a browser. */
  readonly logins: LoginRecords
}

const SECRET_BYTES = 32
const NAME_CHARACTERS_MAX = 100
const ACTS_FOR_MAX = 100
const MANAGEMENT_NAME = 'management'

/** The home of the management key, as that of the command line. */
const MANAGEMENT_HOME = 'default'

/** The last use is for people to look at; writing it once a minute is enough for that. */
const LAST_USE_STEP_MS = MINUTE_MS

export function createApiKeys(ports: StoreDependencies): ApiKeys {
  const { store, clock } = ports
  /** Null when somebody else was first. */
  const make = async (input: ApiKeyInput, id: ApiKeyId, before: EntryOf<'key'> | null) => {
    const now = clock.now()
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    const { name, home, actsFor, role, expiresAt } = parseKey(input, now)
    const isManagement = id === MANAGEMENT_ID
    const body = {
      name,
      defaultOwner: home,
      actsFor,
      role,
      isManagement,
      hash: hashSecret(secret),
      lastUsedAt: null,
    }
    const made = buildEntryChange(
      { id, kind: 'key', at: now, about: home, expiresAt, body },
      before,
    )
    if ((await store.commit([made.change])).kind === 'conflict') return null
    return { key: toKey(made.entry), secret: `rc_${id.slice('key_'.length)}_${secret}` }
  }
  const noteUse = (entry: EntryOf<'key'>, now: Instant) => {
    if (now - (entry.body.lastUsedAt ?? 0) < LAST_USE_STEP_MS) return
    const used = buildEntryChange({ ...entry, body: { ...entry.body, lastUsedAt: now } }, entry)
    store.commit([used.change]).catch(() => {}) // somebody else noted it, or it will be noted next time
  }
  return {
    logins: createLoginRecords(ports),
    create: async (input) => {
      const made = await make(input, ports.ids.next('key', clock.now()), null)
      if (made === null) throw new AppError('conflict', 'A new id was taken. Try again.')
      return made
    },
    verify: async (secret) => {
      const [, id, rest] = /^rc_([0-9a-z]{1,40})_([\w-]{1,100})$/.exec(secret) ?? []
      if (id === undefined || rest === undefined) return null
      const entry = await getSystemEntry(ports, 'key', `key_${id}`)
      const now = clock.now()
      // Compared even when there is no such key: how long it takes must not tell which ids exist.
      const isRight = isEqualHash(entry?.body.hash ?? hashSecret(''), hashSecret(rest))
      if (entry === null || !isRight) return null
      if (entry.expiresAt !== null && entry.expiresAt <= now) return null
      noteUse(entry, now)
      return toKey(entry)
    },
    list: async () => (await listEntries(ports, SYSTEM_SCOPE, 'key')).map(toKey),
    revoke: async (id) => {
      const entry = await getSystemEntry(ports, 'key', parseId('key', id))
      if (entry === null) throw new AppError('not_found', `There is no key ${id}.`, { id })
      await store.commit([buildEntryRemoval(entry)])
      return toKey(entry)
    },
    ensureManagement: async () => {
      if ((await getSystemEntry(ports, 'key', MANAGEMENT_ID)) !== null) return null
      return (await make(MANAGEMENT, MANAGEMENT_ID, null))?.secret ?? null
    },
    resetManagement: async () => {
      const made = await make(
        MANAGEMENT,
        MANAGEMENT_ID,
        await getSystemEntry(ports, 'key', MANAGEMENT_ID),
      )
      if (made === null) throw new AppError('conflict', 'It was just reset by somebody else.')
      return made.secret
    },
  }
}

/** There is one, so it has one id: two servers that start at once can't both make it. */
const MANAGEMENT_ID = 'key_management' as ApiKeyId
const MANAGEMENT: ApiKeyInput = {
  name: MANAGEMENT_NAME,
  defaultOwner: MANAGEMENT_HOME,
  role: 'superadmin',
}

function parseKey(input: ApiKeyInput, now: Instant) {
  const { name, defaultOwner: home, actsFor = [], role = 'user', expiresAt = null } = input
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARACTERS_MAX) {
    throw new AppError(
      'invalid_input',
      `A key has a name of 1 to ${NAME_CHARACTERS_MAX} letters.`,
      {
        field: 'name',
      },
    )
  }
  if (!ROLES.includes(role)) {
    throw new AppError('invalid_input', `role is one of ${ROLES.join(', ')}.`, { field: 'role' })
  }
  if (actsFor.length > ACTS_FOR_MAX) {
    throw new AppError('invalid_input', `A key acts for at most ${ACTS_FOR_MAX} owners.`, {
      field: 'actsFor',
    })
  }
  if (expiresAt !== null && !(Number.isInteger(expiresAt) && expiresAt > now)) {
    throw new AppError('invalid_input', 'expiresAt is a time to come.', { field: 'expiresAt' })
  }
  const ownerOf = (owner: string) => parseScope({ owner }).owner
  return {
    name,
    role,
    home: ownerOf(home),
    actsFor: [...new Set(actsFor.map(ownerOf))],
    expiresAt: expiresAt as Instant | null, // checked above
  }
}

function toKey({ id, at, version, expiresAt, body }: EntryOf<'key'>): ApiKey {
  const { defaultOwner, actsFor, ...rest } = body
  return {
    ...rest,
    ...{ version, expiresAt, createdAt: at },
    id: id as string as ApiKeyId, // entries of this kind have such ids
    home: parseScope({ owner: defaultOwner }).owner,
    actsFor: actsFor.map((owner) => parseScope({ owner }).owner),
  }
}

function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function isEqualHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
