/**
 * Secrets out of texts, before anything of them is kept: `[redacted:kind]` stands in their place.
 *
 * What is known by its form is taken out wherever it stands. What could be anything, such as a password, is taken out
 * where it is given a name like that and looks as if nobody had chosen it for its meaning. Ids, hashes and encoded
 * pictures look alike and are no secrets: they stay.
 *
 * Every pattern begins where a word begins and takes all of it, so no character is looked at more often than a few times,
 * and what is left holds nothing that would be found in a second pass.
 */
export type RedactionOptions = {
  /** Whether addresses of people are secrets, too. */
  readonly emailAddresses: boolean
}

export function redactSensitiveText(
  text: string,
  { emailAddresses: mails }: RedactionOptions,
): string {
  let redacted = redactPrivateKeys(text)
  for (const rule of RULES) redacted = applyRule(rule, redacted)
  return mails ? applyRule(MAILS, redacted) : redacted
}

type SecretRule = {
  readonly kind: string
  /** One of these is in every text that holds such a secret. Looking for them is far cheaper than the pattern. */
  readonly hints: readonly string[]
  /** What is in the group `secret`, at the end of the match, is replaced; without one, all of the match. */
  readonly pattern: RegExp
  readonly isSecret: (secret: string) => boolean
}

/** The beginning of a word, also behind a line break or tab that is written as an escape. */
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`
const hasDigit = (text: string) => /\d/.test(text)
const always = () => true

/** Keys that begin as those of one issuer do; `rest` is what comes after that. */
function buildTokenRule(
  kind: string,
  hints: readonly string[],
  rest: string,
  isSecret: (secret: string) => boolean = always,
): SecretRule {
  const beginnings = hints.map((hint) => hint.replaceAll('.', String.raw`\.`)).join('|')
  return { kind, hints, pattern: new RegExp(`${START}(?:${beginnings})${rest}`, 'g'), isSecret }
}

const RULES: readonly SecretRule[] = [
  buildTokenRule('jwt', ['eyJ'], String.raw`[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}`),
  buildTokenRule('anthropic_key', ['sk-ant-'], String.raw`[\w-]{16,}`),
  // Also of those many that took over its form. Names of styles and packages begin like it, but hold no digits.
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
    // In addresses, between the name of a person and the name of a machine.
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

const MAILS: SecretRule = {
  kind: 'mail',
  hints: ['@'],
  pattern:
    /(?<![\p{L}\p{N}._%+-]|\[redacted:mail\])(?<secret>[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}[\p{L}\p{N}-]{1,62})/gu,
  // The address of every repository.
  isSecret: (mail) => !mail.startsWith('git@'),
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

/** `${PASSWORD}`, `<password>`, `****`, `%s`: where a secret will be. */
function isRealValue(secret: string): boolean {
  return !/^[$<{%[*]/.test(secret) && !/^(.)\1*$/.test(secret)
}

const PATH = /^(?:\.{0,2}\/|~\/|[a-z]:[\\/])/i
/** `config.auth.token2`, `my-secret-2`, `v1.29`: words, numbers and marks between them. */
const NAME = /^[a-z]+(?:[._/-](?:[a-z]+|v?\d+))*$/i
const CODE_NAME = /^[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+$/i
/** Of each character, in bits; words of a language have less, and what is repeated. */
const ENTROPY_MIN = 2.5

/** Whether a machine or a careful person may have drawn it at random. */
function isRandomLooking(secret: string): boolean {
  if (!isRealValue(secret) || !hasDigit(secret) || !/\p{L}/u.test(secret)) return false
  if (PATH.test(secret) || NAME.test(secret) || CODE_NAME.test(secret)) return false
  return computeEntropy(secret) >= ENTROPY_MIN
}

/** Behind the name of a header, less is needed to know that it is no word. */
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
/** No key is longer; an end that is farther away belongs to something else. */
const KEY_CHARACTERS_MAX = 32_768
/** The lines of a key whose end was cut off, with line breaks that may be escaped. */
const KEY_LINES = /(?:(?:\s|\\[nr]|["',>|])*[A-Za-z0-9+/]{16,}={0,2})*/y
const KEY_MARK = '[redacted:private_key]'

function redactPrivateKeys(text: string): string {
  const begins = [...text.matchAll(KEY_BEGIN)]
  if (begins.length === 0) return text
  const ends = text.matchAll(KEY_END)
  let end = ends.next()
  let kept = ''
  let from = 0
  begins.forEach((begin, index) => {
    if (begin.index < from) return
    const bodyStart = begin.index + begin[0].length
    const limit = Math.min(begins[index + 1]?.index ?? text.length, bodyStart + KEY_CHARACTERS_MAX)
    while (end.done !== true && end.value.index < bodyStart) end = ends.next()
    const hasEnd = end.done !== true && end.value.index <= limit
    kept += text.slice(from, begin.index) + KEY_MARK
    from =
      hasEnd && end.done !== true
        ? end.value.index + end.value[0].length
        : findKeyBodyEnd(text, bodyStart)
  })
  return kept + text.slice(from)
}

function findKeyBodyEnd(text: string, start: number): number {
  KEY_LINES.lastIndex = start
  KEY_LINES.test(text)
  return Math.max(start, KEY_LINES.lastIndex)
}
