/**
 * Secrets that other services are asked with. They are kept with the memories, encrypted where those are, are never in an
 * export and are never told again: who wants to know gets the last few characters.
 */
import { AppError } from '../lib/errors.ts'
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
  const value = (await getSystemEntry(ports, 'secret', buildSecretId(name)))?.body.value
  return value === undefined || value === '' ? null : value
}

/** The change that keeps it; null takes it away. */
export async function buildSecretChange(
  ports: Pick<StoreDependencies, 'store' | 'clock'>,
  name: SecretName,
  value: string | null,
): Promise<Change> {
  if (value !== null && (!/^[\x21-\x7e]+$/.test(value) || value.length > SECRET_CHARACTERS_MAX)) {
    throw new AppError('invalid_input', 'A key holds letters, digits and signs, and no spaces.', {
      field: 'apiKey',
    })
  }
  const before = await getSystemEntry(ports, 'secret', buildSecretId(name))
  const entry = { id: buildSecretId(name), kind: 'secret' as const, at: ports.clock.now() }
  return buildEntryChange({ ...entry, body: { value } }, before).change
}

/** Enough to know it again by; of a short one nothing. */
export function maskSecret(secret: string): string {
  return secret.length < SHOWN_CHARACTERS * 3 ? '***' : `***${secret.slice(-SHOWN_CHARACTERS)}`
}

function buildSecretId(name: SecretName): string {
  return `secret_${name}`
}
