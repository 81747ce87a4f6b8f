/** A last net, for secrets that hide inside a value that is otherwise fine: they have telling forms. */

const HIDDEN = '[hidden]'

const SECRETS = [
  // What follows the name of a scheme in an Authorization header.
  /\b(?:bearer|basic)\s+\S+/gi,
  // An address with a name, a password or a query in it.
  /:\/\/\S*[@?]\S*/g,
  // `key=…`, `"token": "…"`, `password: …`
  /(?:secret|password|passphrase|api[-_]?key|token|cookie)["']?\s*[=:]\s*["']?[^\s"',;}]+/gi,
  // Keys with a prefix: a few letters, a separator, and many characters that mean nothing.
  /\b(?:rc|sk|pk|rk|gh[a-z]|xox[a-z])[-_][\w-]{16,}/gi,
  // Runs as long as those of database keys and hashes.
  /\b[0-9a-f]{64,}\b/gi,
] as const

/** Looked at before it is cut, so that no half of a secret is left; more than this is never looked at. */
const CHARACTERS_MAX = 600

export function redactSecrets(text: string, charactersMax: number): string {
  const looked = text.slice(0, CHARACTERS_MAX)
  return SECRETS.reduce((rest, secret) => rest.replace(secret, HIDDEN), looked).slice(
    0,
    charactersMax,
  )
}
