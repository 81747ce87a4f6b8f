import fc from 'fast-check'
import { expect, it } from 'vitest'
import { redactSensitiveText } from './redaction.ts'

const KEPT = { emailAddresses: false }
const HIDDEN = { emailAddresses: true }
/** Made up here, in two halves, so that no scanner of repositories takes them for real ones. */
const made = (...parts: readonly string[]) => parts.join('')
const RANDOM = 'a8Kd03jfLq92Zx7vBn4Mw1Tr6Yp5Hs0Gc'
const LETTERS = 'a8Kd03jfLq92Zx7vBn4Mw1Tr6Yp5Hs0GcUe3'

const KNOWN: readonly (readonly [string, string])[] = [
  ['openai_key', made('sk-', LETTERS, 'Ab12')],
  ['openai_key', made('sk-proj-', RANDOM, '_x-', RANDOM)],
  ['anthropic_key', made('sk-ant-', 'api03-', RANDOM)],
  ['github_token', made('ghp_', LETTERS)],
  ['github_token', made('github_pat_', '11', LETTERS, '_', LETTERS)],
  ['gitlab_token', made('glpat-', RANDOM)],
  ['slack_token', made('xoxb-', '1234567890-', RANDOM)],
  ['aws_key', made('AKIA', 'IOSFODNN7EXAMPLE')],
  ['google_key', made('AIza', 'Sy', RANDOM)],
  ['google_key', made('ya29.', RANDOM)],
  ['stripe_key', made('sk_live_', RANDOM)],
  ['stripe_key', made('rk_test_', RANDOM)],
  ['recollect_key', made('rc_', '01k3x7zq4hb8v2', '_', RANDOM, 'abcdefgh')],
  ['api_key', made('hf_', LETTERS)],
  ['api_key', made('npm_', LETTERS)],
  ['jwt', made('eyJ', 'hbGciOiJIUzI1NiJ9', '.', 'eyJzdWIiOiIxIn0', '.', RANDOM)],
]

it('[FC14] redacts keys and tokens of a known form anywhere', () => {
  const places = [
    (key: string) => key,
    (key: string) => `My key is ${key}.`,
    (key: string) => `KEY=${key}\nnext`,
    (key: string) => `{"key":"${key}"}`,
    (key: string) => `{\\"log\\":\\"a\\n${key}\\n\\"}`,
    (key: string) => `curl https://example.com/?key=${key}&page=1`,
    (key: string) => `钥匙是${key}。`,
  ]
  for (const [kind, key] of KNOWN) {
    for (const place of places) {
      expect(redactSensitiveText(place(key), KEPT)).toBe(place(`[redacted:${kind}]`))
    }
  }
})

it('[FC14] redacts private keys on one or many lines, also without an end marker', () => {
  const lines = Array.from({ length: 5 }, () => RANDOM + RANDOM.slice(3))
  for (const kind of ['RSA PRIVATE KEY', 'PRIVATE KEY', 'PGP PRIVATE KEY BLOCK']) {
    const begin = `-----BEGIN ${kind}-----`
    const end = `-----END ${kind}-----`
    for (const join of ['\n', '\r\n', '\\n', '\n> ']) {
      const key = [begin, 'Proc-Type: 4,ENCRYPTED', '', ...lines, end].join(join)
      expect(redactSensitiveText(`before ${key} after`, KEPT)).toBe(
        'before [redacted:private_key] after',
      )
      const cut = [begin, ...lines].join(join)
      expect(redactSensitiveText(`before ${cut}\nand then`, KEPT)).toBe(
        'before [redacted:private_key]\nand then',
      )
    }
  }
  const certificate = `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----`
  expect(redactSensitiveText(certificate, KEPT)).toBe(certificate)
})

it('[FC14] redacts named values that look random', () => {
  const redacted: readonly (readonly [string, string])[] = [
    [`api_key=${RANDOM}`, 'api_key=[redacted:secret]'],
    [`"apiKey": "${RANDOM}",`, '"apiKey": "[redacted:secret]",'],
    [`{\\"apiKey\\":\\"${RANDOM}\\"}`, '{\\"apiKey\\":\\"[redacted:secret]\\"}'],
    ['DB_PASSWORD: hunter2hunter3', 'DB_PASSWORD: [redacted:secret]'],
    ["password = 'P@ssw0rd!x'", "password = '[redacted:secret]'"],
    [
      'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY',
      'AWS_SECRET_ACCESS_KEY=[redacted:secret]',
    ],
    ['token: 550e8400-e29b-41d4-a716-446655440000', 'token: [redacted:secret]'],
    [`Authorization: Bearer ${RANDOM}`, 'Authorization: Bearer [redacted:authorization]'],
    ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic [redacted:authorization]'],
    ['postgres://ada:tea%20pot@db:5432/x', 'postgres://ada:[redacted:password]@db:5432/x'],
    ['redis://:p@ss:w@cache:6379', 'redis://:[redacted:password]@cache:6379'],
  ]
  for (const [text, expected] of redacted) expect(redactSensitiveText(text, KEPT)).toBe(expected)
})

it('[FC15] keeps ordinary words, code, ids, hashes and images', () => {
  const picture = Buffer.from(Array.from({ length: 3_000 }, (_, n) => (n * n * 31 + n) % 251))
  const ordinary = [
    'The password is always needed. A token: nothing else. Secret: nobody knows.',
    'My password must have 8 characters, and the secret is to mix them.',
    'const token = response.data.token2',
    'const apiKey = process.env.API_KEY_1',
    'password = getPassword(user1)',
    'password: $DB_PASSWORD_1',
    'password: ********1',
    'token: <your-token-1>',
    'secret: my-secret-2',
    'apiKey: /run/secrets/key1',
    'Fixed in commit 9fceb02d0ae598e95dc970b74767f19372d61af8.',
    'sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'id 550e8400-e29b-41d4-a716-446655440000',
    'The bearer authentication-mechanisms, and basic considerations.',
    'class="sk-folding-cube-container-wrapper"',
    'https://user@example.com/a:b@c and http://localhost:8080/x@y',
    'postgres://ada:$PASSWORD@db/x',
    'max_tokens: 4096, tokenizer: cl100k_base, task-manager sk-learn',
    `![tea](data:image/png;base64,${picture.toString('base64')})`,
    'El token de acceso: ninguno. 密码：没有。パスワード：なし',
  ]
  for (const text of ordinary) expect(redactSensitiveText(text, KEPT)).toBe(text)
  const addresses = 'git clone git@github.com:ada/tea.git && npm i react@18.2.0 @tea/pot@1.x'
  expect(redactSensitiveText(addresses, HIDDEN)).toBe(addresses)
})

it('[FC14] redacts email addresses on request', () => {
  const text = 'Write to ada.l+tea@example.co.uk, or to <bob@büro.example>.'
  expect(redactSensitiveText(text, KEPT)).toBe(text)
  expect(redactSensitiveText(text, HIDDEN)).toBe(
    'Write to [redacted:mail], or to <[redacted:mail]>.',
  )
})

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...KNOWN.map(([, key]) => key), '-----BEGIN PRIVATE KEY-----'),
      fc.constantFrom(
        '-----END PRIVATE KEY-----',
        'password',
        'token',
        '=',
        ':',
        ' ',
        '"',
        '\\n',
        '@',
      ),
      fc.constantFrom(
        'postgres://',
        'a',
        'Bearer ',
        'ada@example.com',
        '.',
        '-',
        '_',
        RANDOM,
        '茶',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))

it('[FC14] finds nothing in a second pass', () => {
  fc.assert(
    fc.property(anyText, fc.boolean(), (text, mails) => {
      const once = redactSensitiveText(text, { emailAddresses: mails })
      expect(redactSensitiveText(once, { emailAddresses: mails })).toBe(once)
    }),
    { numRuns: 5_000 },
  )
})

it('[FC15] takes linear time on hostile text', () => {
  const many = 200_000
  const hostile = [
    'a',
    '-',
    '+',
    'eyJ',
    'eyJaaaaaaaaa.',
    'sk-',
    'a:',
    'a://',
    'a://b:',
    'a://b:c@',
    'password=',
    'password="',
    'pass',
    'Bearer ',
    'authorization: ',
    'a@',
    'a.',
    'a@b.',
    '\\n',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n+',
    'hooks.slack.com/services/',
    ' ',
  ]
  for (const part of hostile) {
    const text = part.repeat(Math.ceil(many / part.length))
    expect(redactSensitiveText(redactSensitiveText(text, HIDDEN), HIDDEN)).toBe(
      redactSensitiveText(text, HIDDEN),
    )
  }
  expect(redactSensitiveText(`-----BEGIN PRIVATE KEY-----${'+'.repeat(many)}`, KEPT)).toBe(
    '[redacted:private_key]',
  )
})
