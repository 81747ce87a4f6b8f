/**
 * Formats messages with placeholders, a subset of ICU MessageFormat: `{name}` and
 * `{count, plural, one {# memory} other {# memories}}`. Values are inserted as they are and never parsed, so text from
 * memories cannot act as a message.
 */
export type MessageValues = Readonly<Record<string, string | number>>

/** Plural rules follow the language; numbers are formatted for the region, such as `de-CH`. */
export function format(
  message: string,
  values: MessageValues,
  language: string,
  region: string = language,
): string {
  let out = ''
  let at = 0
  while (at < message.length) {
    const open = message.indexOf('{', at)
    if (open === -1) return out + message.slice(at)
    const close = closingBrace(message, open)
    const placeholder = message.slice(open + 1, close)
    out += message.slice(at, open) + formatPlaceholder(placeholder, values, language, region)
    at = close + 1
  }
  return out
}

function formatPlaceholder(
  placeholder: string,
  values: MessageValues,
  language: string,
  region: string,
): string {
  const [name = '', kind, ...rest] = placeholder.split(',')
  const value = values[name.trim()]
  if (kind?.trim() !== 'plural') {
    return typeof value === 'number' ? formatNumber(region, value) : (value ?? `{${name}}`)
  }
  const count = Number(value ?? 0)
  const forms = parsePluralForms(rest.join(','))
  const form = forms[`=${count}`] ?? forms[new Intl.PluralRules(language).select(count)]
  return format(
    (form ?? forms.other ?? '').replaceAll('#', formatNumber(region, count)),
    values,
    language,
    region,
  )
}

function formatNumber(region: string, value: number): string {
  return new Intl.NumberFormat(region).format(value)
}

function parsePluralForms(text: string): Record<string, string> {
  const forms: Record<string, string> = {}
  let at = 0
  for (;;) {
    const open = text.indexOf('{', at)
    if (open === -1) return forms
    const close = closingBrace(text, open)
    forms[text.slice(at, open).trim()] = text.slice(open + 1, close)
    at = close + 1
  }
}

/** The index of the brace that matches the one at `open`. */
function closingBrace(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at
  }
  return text.length
}
