/** Bodies of entries that decide who may do what, and that record who did. */
import type { JsonObject } from '../../lib/json.ts'
import type { Instant } from '../../lib/time.ts'
import { KEY_WRITERS, type KeyWriter, ROLES, type Role } from '../access.ts'
import type { ApiKeyId, OwnerId } from '../ids.ts'
import { choice, flag, instant, json, list, nullable, number, object, text } from './body-codec.ts'

/** An API key. Only the hash of its secret is stored. */
export type ApiKeyBody = {
  readonly name: string
  readonly defaultOwner: OwnerId
  readonly actsFor: readonly OwnerId[]
  readonly role: Role
  /** Null in keys that name none. */
  readonly writesAs: KeyWriter | null
  readonly isManagement: boolean
  readonly hash: string
  readonly lastUsedAt: Instant | null
}

export const apiKeyBody = object<ApiKeyBody>({
  name: text(),
  defaultOwner: text<OwnerId>(),
  actsFor: list(text<OwnerId>()),
  role: (value) => ROLES.find((role) => role === value) ?? 'reader', // an unknown role may do the least
  writesAs: nullable(choice<KeyWriter>(KEY_WRITERS)),
  isManagement: flag,
  hash: text(),
  lastUsedAt: nullable(instant),
})

/** A browser that is signed in. */
export type LoginBody = { readonly key: ApiKeyId }

export const loginBody = object<LoginBody>({ key: text<ApiKeyId>() })

export type AuditBody = {
  /** Null: whoever sits at the machine. */
  readonly actor: ApiKeyId | null
  readonly operation: string
  readonly targets: readonly string[]
  readonly targetCount: number
}

export const auditBody = object<AuditBody>({
  actor: nullable(text<ApiKeyId>()),
  operation: text(),
  targets: list(text()),
  targetCount: number,
})

/** A request under an idempotency key. `response` is null while the first request is being done. */
export type IdempotencyBody = {
  readonly requestHash: string
  readonly response: JsonObject | null
}

export const idempotencyBody = object<IdempotencyBody>({
  requestHash: text(),
  response: nullable(json),
})

/** A secret of another service. Null once it was removed. */
export type SecretBody = { readonly value: string | null }

export const secretBody = object<SecretBody>({ value: nullable(text()) })

/** Settings by name. A newer version may have stored names that this one does not know. */
export const settingBody = json

/** How far rows were copied: up to this row of this owner. */
export type CopyCursor = {
  readonly owner: string
  readonly table: string
  readonly after: string
}

/** One end of a migration between two stores. `move` is the same at both ends. */
export type StoreMigrationBody = { readonly move: string } & (
  | { readonly state: 'moving'; readonly to: string }
  | { readonly state: 'moved'; readonly to: string }
  | {
      readonly state: 'filling'
      readonly from: string
      readonly cursor: CopyCursor | 'start' | 'end'
    }
)

const moving = object({
  move: text(),
  state: choice<'moving' | 'moved'>(['moving', 'moved']),
  to: text(),
})
const filling = object<Extract<StoreMigrationBody, { state: 'filling' }>>({
  move: text(),
  state: choice(['filling']),
  from: text(),
  cursor: (value) =>
    value === 'start' || value === 'end'
      ? value
      : object<CopyCursor>({ owner: text(), table: text(), after: text() })(value),
})

export const storeMigrationBody = (value: JsonObject): StoreMigrationBody =>
  value.state === 'filling' ? filling(value) : moving(value)
