/** Redaction as a last safeguard: finds secrets inside otherwise harmless values by their form. */

const HIDDEN = '[hidden]'

const SECRETS = [
  // The credentials after the scheme of an Authorization header.
  /\b(?:bearer|basic)\s+\S+/gi,
  // A URL with user, password or query.
  /:\/\/\S*[@?]\S*/g,
  // `key=…`, `"token": "…"`, `password: …`
  /(?:secret|password|passphrase|api[-_]?key|token|cookie)["']?\s*[=:]\s*["']?[^\s"',;}]+/gi,
  // API keys with a prefix: a few letters, a separator, and a long random part.
  /\b(?:rc|sk|pk|rk|gh[a-z]|xox[a-z])[-_][\w-]{16,}/gi,
  // Hex runs as long as database keys and hashes.
  /\b[0-9a-f]{64,}\b/gi,
] as const

/**
 * Redacts before truncating, so that no partial secret is left; anything beyond this length is
 * never examined.
 */
const CHARACTERS_MAX = 600

export function redactSecrets(text: string, charactersMax: number): string {
  const looked = text.slice(0, CHARACTERS_MAX)
  return SECRETS.reduce((rest, secret) => rest.replace(secret, HIDDEN), looked).slice(
    0,
    charactersMax,
  )
}
