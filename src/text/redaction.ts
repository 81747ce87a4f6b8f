/**
 * Redacts secrets before text is stored: `[redacted:kind]` replaces them.
 *
 * Secrets of a known form, such as API keys, are redacted anywhere. Others, such as passwords, are redacted only after a
 * name like `password=` and when the value looks random. Ids, hashes and encoded images look random, too, and stay.
 *
 * Every pattern begins at a word boundary and consumes the whole word, so the work is linear and a second pass would find
 * nothing.
 */
export type RedactionOptions = {
  /** Whether email addresses are redacted, too. */
  readonly emailAddresses: boolean
}

export function redactSensitiveText(text: string, { emailAddresses }: RedactionOptions): string {
  const redacted = applyRules(redactPrivateKeys(text))
  if (!emailAddresses) return redacted
  const withoutEmails = applyRule(EMAILS, redacted)
  // A token right after an address begins a word only once the address is gone.
  return withoutEmails === redacted ? redacted : applyRules(withoutEmails)
}

function applyRules(text: string): string {
  return RULES.reduce((redacted, rule) => applyRule(rule, redacted), text)
}

type SecretRule = {
  readonly kind: string
  /** Substrings of which every text with such a secret contains one. Testing them is far cheaper than the pattern. */
  readonly hints: readonly string[]
  /** The group `secret`, at the end of the match, is replaced; without the group, the whole match. */
  readonly pattern: RegExp
  readonly isSecret: (secret: string) => boolean
}

/** A word boundary, also after an escaped line break or tab. */
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`
const hasDigit = (text: string) => /\d/.test(text)
const always = () => true

/** Tokens of one issuer, by their prefixes. */
function buildTokenRule(
  kind: string,
  hints: readonly string[],
  rest: string,
  isSecret: (secret: string) => boolean = always,
): SecretRule {
  const prefixes = hints.map((hint) => hint.replaceAll('.', String.raw`\.`)).join('|')
  return { kind, hints, pattern: new RegExp(`${START}(?:${prefixes})${rest}`, 'g'), isSecret }
}

const RULES: readonly SecretRule[] = [
  buildTokenRule('jwt', ['eyJ'], String.raw`[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}`),
  buildTokenRule('anthropic_key', ['sk-ant-'], String.raw`[\w-]{16,}`),
  // Many other services use this form. CSS classes and packages have the prefix, but no digits.
  buildTokenRule('openai_key', ['sk-'], String.raw`[\w-]{20,}`, hasDigit),
  buildTokenRule(
    'github_token',
    ['ghp_', 'gho_', 'ghr_', 'ghs_', 'ghu_', 'github_pat_'],
    String.raw`\w{22,}[\w-]*`,
  ),
  buildTokenRule(
    'gitlab_token',
    ['glpat-', 'glrt-', 'gldt-', 'glptt-', 'glcbt-'],
    String.raw`[\w-]{16,}`,
  ),
  buildTokenRule(
    'slack_token',
    ['xoxa-', 'xoxb-', 'xoxe-', 'xoxe.', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'],
    String.raw`[\w-]{10,}`,
    hasDigit,
  ),
  {
    kind: 'slack_webhook',
    hints: ['hooks.slack.com/'],
    pattern: /(?<=hooks\.slack\.com\/)(?:services|workflows)\/[\w/-]{20,}/g,
    isSecret: always,
  },
  buildTokenRule('aws_key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], String.raw`[A-Z0-9]{16}(?![\w-])`),
  buildTokenRule('google_key', ['AIza'], String.raw`[\w-]{35,}`),
  buildTokenRule('google_key', ['GOCSPX-', 'ya29.'], String.raw`[\w-]{20,}(?:\.[\w-]+)*`),
  buildTokenRule(
    'stripe_key',
    ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    String.raw`[\w+/=-]{16,}`,
  ),
  buildTokenRule('recollect_key', ['rc_'], String.raw`[0-9a-z]{8,40}_[\w-]{30,}`),
  buildTokenRule(
    'api_key',
    [
      ...['gsk_', 'hf_', 'npm_', 'r8_', 'dckr_pat_', 'dop_v1_', 'doo_v1_', 'lin_api_', 'ntn_'],
      ...['pplx-', 'tvly-', 'xai-', 'nvapi-', 'pypi-', 'sntrys_', 'figd_', 'shpat_', 'SG.'],
    ],
    String.raw`[\w-]{22,}(?:\.[\w-]{16,})?`,
    hasDigit,
  ),
  {
    kind: 'authorization',
    hints: [' ', '\t'],
    pattern:
      /authorization\\{0,3}["'`]?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["'`]?(?:bearer|basic|token)[ \t]{1,8}(?<secret>[\w.~+/-]{8,}={0,2})/gi,
    isSecret: isTokenLike,
  },
  {
    kind: 'authorization',
    hints: [' ', '\t'],
    pattern: new RegExp(
      String.raw`${START}(?:bearer|basic)[ \t]{1,8}(?<secret>[\w.~+/-]{16,}={0,2})`,
      'gi',
    ),
    isSecret: isRandomLooking,
  },
  {
    // URL credentials: between user and host.
    kind: 'password',
    hints: ['://'],
    pattern: /(?<=[a-z0-9]:\/\/[^\s/:@?#"'`<>[]{0,200}:)[^\s/?#"'`<>[]{1,400}(?=@)/gi,
    isSecret: isRealValue,
  },
  {
    kind: 'secret',
    hints: ['=', ':'],
    pattern: new RegExp(
      `(?:${[
        'pass(?:word|wd|phrase|code)?',
        'pwd',
        'secret',
        'token',
        'credentials?',
        '(?:api|access|secret|private|signing|encryption|account|auth|client|master|license)[_ -]?key',
      ].join(
        '|',
      )})${String.raw`\\{0,3}["'\x60]?[ \t]{0,8}(?:=>|:=|==?|:)[ \t]{0,8}\\{0,3}["'\x60]?`}` +
        String.raw`(?<secret>[^\s"'\x60,;:=&?()<>{}[\]|\\]{8,}={0,2})`,
      'gi',
    ),
    isSecret: isRandomLooking,
  },
]

const EMAILS: SecretRule = {
  kind: 'mail',
  hints: ['@'],
  pattern:
    /(?<![\p{L}\p{N}._%+-]|\[redacted:mail\])(?<secret>[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}[\p{L}\p{N}-]{1,62})/gu,
  // The SSH address of a repository.
  isSecret: (address) => !address.startsWith('git@'),
}

function applyRule({ kind, hints, pattern, isSecret }: SecretRule, text: string): string {
  if (!hints.some((hint) => text.includes(hint))) return text
  const mark = `[redacted:${kind}]`
  return text.replace(pattern, (match: string, ...rest: unknown[]) => {
    const groups = rest.at(-1)
    const secret = isGroupsObject(groups) ? (groups.secret ?? match) : match
    if (!isSecret(secret)) return match
    return match.slice(0, match.length - secret.length) + mark
  })
}

function isGroupsObject(value: unknown): value is { readonly secret?: string } {
  return typeof value === 'object' && value !== null
}

/** Whether a value is no placeholder such as `${PASSWORD}`, `<password>`, `****` or `%s`. */
function isRealValue(secret: string): boolean {
  return !/^[$<{%[*]/.test(secret) && !/^(.)\1*$/.test(secret)
}

const PATH = /^(?:\.{0,2}\/|~\/|[a-z]:[\\/])/i
/** Words and numbers joined by marks: `config.auth.token2`, `my-secret-2`, `v1.29`. */
const NAME = /^[a-z]+(?:[._/-](?:[a-z]+|v?\d+))*$/i
const CODE_NAME = /^[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+$/i
/** Bits per character. Words and repetitions have less. */
const ENTROPY_MIN = 2.5

/** Whether a value may be random. */
function isRandomLooking(secret: string): boolean {
  if (!isRealValue(secret) || !hasDigit(secret) || !/\p{L}/u.test(secret)) return false
  if (PATH.test(secret) || NAME.test(secret) || CODE_NAME.test(secret)) return false
  return computeEntropy(secret) >= ENTROPY_MIN
}

/** Whether a value after a header name is no word; the context allows a weaker test. */
function isTokenLike(secret: string): boolean {
  return isRealValue(secret) && /\d|[a-z][A-Z]/.test(secret)
}

function computeEntropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** No key is longer; an end farther away belongs to something else. */
const KEY_CHARACTERS_MAX = 32_768
/** The lines of a key without an end marker; line breaks may be escaped. */
const KEY_LINES = /(?:(?:\s|\\[nr]|["',>|])*[A-Za-z0-9+/]{16,}={0,2})*/y
const KEY_MARK = '[redacted:private_key]'

function redactPrivateKeys(text: string): string {
  const begins = [...text.matchAll(KEY_BEGIN)]
  if (begins.length === 0) return text
  const ends = text.matchAll(KEY_END)
  let end = ends.next()
  let redacted = ''
  let from = 0
  begins.forEach((begin, index) => {
    if (begin.index < from) return
    const bodyStart = begin.index + begin[0].length
    const limit = Math.min(begins[index + 1]?.index ?? text.length, bodyStart + KEY_CHARACTERS_MAX)
    while (end.done !== true && end.value.index < bodyStart) end = ends.next()
    const hasEnd = end.done !== true && end.value.index <= limit
    redacted += text.slice(from, begin.index) + KEY_MARK
    from =
      hasEnd && end.done !== true
        ? end.value.index + end.value[0].length
        : findKeyBodyEnd(text, bodyStart)
  })
  return redacted + text.slice(from)
}

function findKeyBodyEnd(text: string, start: number): number {
  KEY_LINES.lastIndex = start
  KEY_LINES.test(text)
  return Math.max(start, KEY_LINES.lastIndex)
}
