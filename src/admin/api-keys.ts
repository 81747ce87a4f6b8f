/**
 * API keys and the browser sessions that were opened with them. A key reads `rc_<id>_<secret>`; the store holds only a
 * SHA-256 hash of the secret. A fast hash is enough because 256 random bits cannot be found with a dictionary.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import {
  ANY_OWNER,
  type ApiKey,
  getDefaultWriter,
  KEY_WRITERS,
  type KeyWriter,
  ROLES,
  type Role,
} from '../domain/access.ts'
import type { EntryOf } from '../domain/entries/entry.ts'
import { createInvalidInputError } from '../domain/field-parsers.ts'
import { type ApiKeyId, type OwnerId, parseId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import type { Instant } from '../lib/time.ts'
import {
  buildEntryChange,
  buildEntryRemoval,
  getSystemEntry,
  listEntries,
  removeExpiredEntries,
  SYSTEM_SCOPE,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'

export type ApiKeyInput = {
  /** A label that says what uses the key. */
  readonly name: string
  readonly defaultOwner: string
  readonly actsFor?: readonly string[]
  readonly role?: Role
  /** Whose words the key writes. Default: a model's for the role `agent`, otherwise a person's. */
  readonly writesAs?: KeyWriter
  readonly expiresAt?: number | null
}

export interface ApiKeys {
  /**
   * Creates a key. Only the returned secret authenticates; it is not stored.
   *
   * @example
   * const { key, secret } = await engine.admin.keys.create({ name: 'laptop', defaultOwner: 'ada' })
   */
  create(input: ApiKeyInput): Promise<{ readonly key: ApiKey; readonly secret: string }>
  /**
   * The key of a secret; null when there is none, or when it was revoked or has expired.
   *
   * @example
   * const key = await engine.admin.keys.verify('rk_secret')
   */
  verify(secret: string): Promise<ApiKey | null>
  /**
   * @example
   * const keys = await engine.admin.keys.list()
   */
  list(): Promise<readonly ApiKey[]>
  /**
   * @example
   * await engine.admin.keys.revoke('key_01jf8t3z9k')
   */
  revoke(id: string): Promise<ApiKey>
  /**
   * Creates the management key of the system unless a valid one exists. Returns its secret, or null.
   *
   * @example
   * const secret = await engine.admin.keys.ensureManagement()
   */
  ensureManagement(): Promise<string | null>
  /**
   * Replaces the management key of the system and returns the new secret.
   *
   * @example
   * const secret = await engine.admin.keys.resetManagement()
   */
  resetManagement(): Promise<string>
  /** Browser logins of the keys. */
  readonly logins: LoginRecords
}

export type LoginRecord = { readonly key: ApiKeyId; readonly expiresAt: number }

/** Browser sessions by the hash of their cookie, stored so that they survive a restart and work on every server. */
export interface LoginRecords {
  /**
   * Stores a login under the hash of its token. Beyond the limit of a key, its oldest login is removed.
   *
   * @example
   * type Login = Parameters<typeof engine.admin.keys.logins.open>[1]
   * const store = (hash: string, login: Login) => engine.admin.keys.logins.open(hash, login)
   */
  open(hash: string, login: LoginRecord): Promise<void>
  /**
   * Null when there is no such login, or when it has expired.
   *
   * @example
   * const login = await engine.admin.keys.logins.get('3f1c9e')
   */
  get(hash: string): Promise<LoginRecord | null>
  /**
   * @example
   * await engine.admin.keys.logins.close('3f1c9e')
   */
  close(hash: string): Promise<void>
}

const SECRET_BYTES = 32
const NAME_CHARACTERS_MAX = 100
const ACTS_FOR_MAX = 100
const MANAGEMENT_NAME = 'management'

/** One key must not fill the store with sessions. */
const LOGINS_PER_KEY_MAX = 50

/** The default owner of the command line as well. */
const MANAGEMENT_HOME = 'default'

/** `lastUsedAt` is for display only, so one write a minute is precise enough. */
const LAST_USE_STEP_MS = 60_000

export function createApiKeys(ports: StoreDependencies): ApiKeys {
  const { store, clock } = ports
  /** Resolves to null when a concurrent request wrote the same row first. */
  const createKey = async (input: ApiKeyInput, id: ApiKeyId, before: EntryOf<'key'> | null) => {
    const now = clock.now()
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    const { name, home, actsFor, role, writesAs, expiresAt } = parseKey(input, now)
    const isManagement = id === MANAGEMENT_KEY_ID
    const body = {
      name,
      defaultOwner: home,
      actsFor,
      role,
      writesAs,
      isManagement,
      hash: hashSecret(secret),
      lastUsedAt: null,
    }
    const created = buildEntryChange(
      { id, kind: 'key', at: now, about: home, expiresAt, body },
      before,
    )
    if ((await store.commit([created.change])).kind === 'conflict') return null
    return { key: toKey(created.entry), secret: `rc_${id.slice('key_'.length)}_${secret}` }
  }
  const recordUse = (entry: EntryOf<'key'>, now: Instant) => {
    if (now - (entry.body.lastUsedAt ?? 0) < LAST_USE_STEP_MS) return
    const used = buildEntryChange({ ...entry, body: { ...entry.body, lastUsedAt: now } }, entry)
    store.commit([used.change]).catch(() => {}) // the next use repeats a lost update
  }
  return {
    logins: createLoginRecords(ports),
    create: async (input) => {
      const created = await createKey(input, ports.ids.next('key', clock.now()), null)
      if (created === null) {
        throw new AppError('conflict', 'The generated key id is already taken. Retry the request.')
      }
      return created
    },
    verify: async (secret) => {
      const [, id, rest] = /^rc_([0-9a-z]{1,40})_([\w-]{1,100})$/.exec(secret) ?? []
      if (id === undefined || rest === undefined) return null
      const entry = await getSystemEntry(ports, 'key', `key_${id}`)
      const now = clock.now()
      // An unknown id is compared too, so that the response time does not reveal which ids exist.
      const isRight = isEqualHash(entry?.body.hash ?? hashSecret(''), hashSecret(rest))
      if (entry === null || !isRight) return null
      if (entry.expiresAt !== null && entry.expiresAt <= now) return null
      recordUse(entry, now)
      return toKey(entry)
    },
    list: async () => (await listEntries(ports, SYSTEM_SCOPE, 'key')).map(toKey),
    revoke: async (id) => {
      const entry = await getSystemEntry(ports, 'key', parseId('key', id))
      if (entry === null) throw new AppError('not_found', `API key ${id} not found.`, { id })
      await store.commit([buildEntryRemoval(entry)])
      return toKey(entry)
    },
    ensureManagement: async () => {
      if ((await getSystemEntry(ports, 'key', MANAGEMENT_KEY_ID)) !== null) return null
      return (await createKey(MANAGEMENT, MANAGEMENT_KEY_ID, null))?.secret ?? null
    },
    resetManagement: async () => {
      const created = await createKey(
        MANAGEMENT,
        MANAGEMENT_KEY_ID,
        await getSystemEntry(ports, 'key', MANAGEMENT_KEY_ID),
      )
      if (created === null) {
        const message = 'A concurrent request reset the management key. Retry to replace it again.'
        throw new AppError('conflict', message)
      }
      return created.secret
    },
  }
}

/** A fixed id, so that two servers that start at once cannot both create the management key. */
export const MANAGEMENT_KEY_ID = 'key_management' as ApiKeyId
const MANAGEMENT: ApiKeyInput = {
  name: MANAGEMENT_NAME,
  defaultOwner: MANAGEMENT_HOME,
  role: 'superadmin',
}

function createLoginRecords(ports: StoreDependencies): LoginRecords {
  const { store, clock } = ports
  const buildLoginId = (hash: string) => `lgn_${hash}`
  return {
    open: async (hash, { key, expiresAt }) => {
      await removeExpiredEntries(ports, ['login'])
      const entries = await listEntries(ports, SYSTEM_SCOPE, 'login')
      const ofKey = entries.filter(({ body }) => body.key === key)
      const surplus = ofKey
        .toSorted((a, b) => a.at - b.at)
        .slice(0, Math.max(0, ofKey.length - LOGINS_PER_KEY_MAX + 1))
      const { change } = buildEntryChange(
        {
          ...{ id: buildLoginId(hash), kind: 'login' as const, at: clock.now(), body: { key } },
          expiresAt: expiresAt as Instant, // derived from the clock
        },
        null,
      )
      await store.commit([...surplus.map((entry) => buildEntryRemoval(entry)), change])
    },
    get: async (hash) => {
      const entry = await getSystemEntry(ports, 'login', buildLoginId(hash))
      if (entry?.expiresAt == null || entry.expiresAt <= clock.now()) return null
      return { key: entry.body.key, expiresAt: entry.expiresAt }
    },
    close: async (hash) => {
      const entry = await getSystemEntry(ports, 'login', buildLoginId(hash))
      if (entry !== null) await store.commit([buildEntryRemoval(entry)])
    },
  }
}

function parseKey(input: ApiKeyInput, now: Instant) {
  const { name, defaultOwner: home, actsFor = [], role = 'user', expiresAt = null } = input
  const { writesAs = null } = input
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARACTERS_MAX) {
    throw createInvalidInputError(
      'name',
      `\`name\` must have 1 to ${NAME_CHARACTERS_MAX} characters.`,
    )
  }
  if (!ROLES.includes(role)) {
    throw createInvalidInputError(
      'role',
      `\`role\` must be one of ${ROLES.join(', ')}; got "${role}".`,
    )
  }
  if (writesAs !== null && !KEY_WRITERS.includes(writesAs)) {
    throw createInvalidInputError(
      'writesAs',
      `\`writesAs\` must be one of ${KEY_WRITERS.join(', ')}; got "${writesAs}".`,
    )
  }
  if (actsFor.length > ACTS_FOR_MAX) {
    throw createInvalidInputError(
      'actsFor',
      `\`actsFor\` must hold at most ${ACTS_FOR_MAX} owners; got ${actsFor.length}.`,
    )
  }
  if (expiresAt !== null && !(Number.isInteger(expiresAt) && expiresAt > now)) {
    throw createInvalidInputError(
      'expiresAt',
      `\`expiresAt\` must be a time in the future, in epoch milliseconds; got ${expiresAt}.`,
    )
  }
  return {
    name,
    role,
    writesAs,
    home: parseScope({ owner: home }).owner,
    actsFor: [...new Set(actsFor.map(parseReach))],
    expiresAt: expiresAt as Instant | null, // checked above
  }
}

function toKey({ id, at, version, expiresAt, body }: EntryOf<'key'>): ApiKey {
  const { defaultOwner, actsFor, writesAs, ...rest } = body
  return {
    ...rest,
    writesAs: writesAs ?? getDefaultWriter(rest.role),
    ...{ version, expiresAt, createdAt: at },
    id: id as string as ApiKeyId, // entries of this kind have such ids
    home: parseScope({ owner: defaultOwner }).owner,
    actsFor: actsFor.map(parseReach),
  }
}

function parseReach(owner: string): OwnerId {
  return owner === ANY_OWNER ? (ANY_OWNER as OwnerId) : parseScope({ owner }).owner // stands for every name
}

function hashSecret(secret: string): string {
  return sha256(secret)
}

function isEqualHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
