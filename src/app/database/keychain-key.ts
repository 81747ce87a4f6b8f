/**
 * The key of a database in the keychain of the system. A file beside the database names its accounts there, so that the
 * folder can be moved, and no keychain is asked for databases that have no key in one.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { AppError } from '../../lib/errors.ts'
import type { DatabaseKey } from '../../storage/sqlite/connection/sqlite-driver.ts'
import { parseKey } from '../../storage/sqlite/encryption/encryption-key.ts'
import { isMatchingKey, readKeyVerifier } from '../../storage/sqlite/encryption/key-verifier.ts'
import type { Keychain } from '../../storage/sqlite/encryption/keychain.ts'

const KEY_BYTES = 32
const ACCOUNT = /^recollect-[0-9a-f]{16}$/

export function toKeychainFile(path: string): string {
  return `${path}.keychain`
}

/** Null when no account is named. Two are named after an interrupted change of the key. */
export async function readKeychainKey(
  keychain: Keychain,
  path: string,
): Promise<DatabaseKey | null> {
  const accounts = readAccounts(path)
  if (accounts.length === 0) return null
  const verifier = readKeyVerifier(path)
  let key: DatabaseKey | null = null
  for (const account of accounts) {
    const secret = await keychain.read(account)
    if (secret === null) continue
    key = parseKey(secret)
    if (verifier === null || isMatchingKey(verifier, key)) return key
  }
  if (key !== null) return key
  throw new AppError(
    'locked',
    `The key of ${basename(path)} is not in the keychain of this user (${accounts.join(', ')}). Pass a copy of it with --encryption-key-file.`,
    { path },
  )
}

export type StoredKey = {
  /** 64 hex digits. */
  readonly hex: string
  /** Removes the keys that were stored before; call it when the database has the new key. */
  commit(): Promise<void>
  /** Removes the new key; call it when the database does not have it. */
  discard(): Promise<void>
}

/** Stores a new random key before anything is encrypted with it: a crash in between must not lose it. */
export async function storeNewKey(keychain: Keychain, path: string): Promise<StoredKey> {
  const before = readAccounts(path)
  const account = `recollect-${randomBytes(8).toString('hex')}`
  const hex = randomBytes(KEY_BYTES).toString('hex')
  await keychain.write(account, hex)
  writeAccounts(path, [account, ...before])
  return {
    hex,
    commit: () => keepOnly(keychain, path, [account]),
    discard: () => keepOnly(keychain, path, before),
  }
}

/** For a database that is no longer encrypted with a key of the keychain. */
export async function forgetKeychainKeys(keychain: Keychain, path: string): Promise<void> {
  await keepOnly(keychain, path, [])
}

async function keepOnly(
  keychain: Keychain,
  path: string,
  accounts: readonly string[],
): Promise<void> {
  const removed = readAccounts(path).filter((account) => !accounts.includes(account))
  for (const account of removed) await keychain.remove(account)
  writeAccounts(path, accounts)
}

function readAccounts(path: string): readonly string[] {
  const file = toKeychainFile(path)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => ACCOUNT.test(line))
}

function writeAccounts(path: string, accounts: readonly string[]): void {
  const file = toKeychainFile(path)
  if (accounts.length === 0) rmSync(file, { force: true })
  else writeFileSync(file, `${accounts.join('\n')}\n`, { mode: 0o600 })
}
