/**
 * Credentials of external services. They are stored in the database, encrypted where the database is, never exported,
 * and never shown again except for their last few characters.
 */
import { createInvalidInputError } from '../domain/field-parsers.ts'
import { buildEntryChange, getSystemEntry } from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change } from '../storage/store.ts'

export const SECRETS = ['qdrant'] as const
export type SecretName = (typeof SECRETS)[number]

const SECRET_CHARACTERS_MAX = 4_000
const SHOWN_CHARACTERS = 4

export async function readSecret(
  ports: Pick<StoreDependencies, 'store'>,
  name: SecretName,
): Promise<string | null> {
  const value = (await getSystemEntry(ports, buildSecretId(name)))?.body.value
  return typeof value === 'string' && value !== '' ? value : null
}

/** Builds the change that stores the secret; null removes it. */
export async function buildSecretChange(
  ports: Pick<StoreDependencies, 'store' | 'clock'>,
  name: SecretName,
  value: string | null,
): Promise<Change> {
  if (value !== null && (!/^[\x21-\x7e]+$/.test(value) || value.length > SECRET_CHARACTERS_MAX)) {
    throw createInvalidInputError(
      'apiKey',
      `\`apiKey\` must be 1 to ${SECRET_CHARACTERS_MAX} printable ASCII characters without spaces.`,
    )
  }
  const before = await getSystemEntry(ports, buildSecretId(name))
  const entry = { id: buildSecretId(name), kind: 'secret' as const, at: ports.clock.now() }
  return buildEntryChange({ ...entry, body: { value } }, before).change
}

/** Shows enough to recognize a secret; nothing of a short one. */
export function maskSecret(secret: string): string {
  return secret.length < SHOWN_CHARACTERS * 3 ? '***' : `***${secret.slice(-SHOWN_CHARACTERS)}`
}

function buildSecretId(name: SecretName): string {
  return `secret_${name}`
}
