/**
 * Messages with places to fill: `{name}`, and `{count, plural, one {# memory} other {# memories}}`. Text that comes from
 * memories is only ever put into places, never read as a message.
 */
export type Values = Readonly<Record<string, string | number>>

/** Words follow the rules of a language, numbers are written as in a region of it. */
export function format(
  message: string,
  values: Values,
  language: string,
  region: string = language,
): string {
  let out = ''
  let at = 0
  while (at < message.length) {
    const open = message.indexOf('{', at)
    if (open === -1) return out + message.slice(at)
    const close = endOf(message, open)
    out +=
      message.slice(at, open) + filled(message.slice(open + 1, close), values, language, region)
    at = close + 1
  }
  return out
}

function filled(inside: string, values: Values, language: string, region: string): string {
  const [name = '', kind, ...rest] = inside.split(',')
  const value = values[name.trim()]
  if (kind?.trim() !== 'plural') {
    return typeof value === 'number' ? numberIn(region, value) : (value ?? `{${name}}`)
  }
  const count = Number(value ?? 0)
  const forms = formsOf(rest.join(','))
  const form = forms[`=${count}`] ?? forms[new Intl.PluralRules(language).select(count)]
  return format(
    (form ?? forms.other ?? '').replaceAll('#', numberIn(region, count)),
    values,
    language,
    region,
  )
}

function numberIn(region: string, value: number): string {
  return new Intl.NumberFormat(region).format(value)
}

function formsOf(text: string): Record<string, string> {
  const forms: Record<string, string> = {}
  let at = 0
  for (;;) {
    const open = text.indexOf('{', at)
    if (open === -1) return forms
    const close = endOf(text, open)
    forms[text.slice(at, open).trim()] = text.slice(open + 1, close)
    at = close + 1
  }
}

/** Where the bracket that opens at `open` closes. */
function endOf(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at
  }
  return text.length
}
