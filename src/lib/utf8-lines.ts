/** Decodes a byte stream into lines. Invalid UTF-8 is refused. */
import { AppError } from './errors.ts'

/** An export row with all texts at their limit and fully escaped stays below this. */
const LINE_CHARACTERS_MAX = 4 * 1024 * 1024

/** Splits at line feeds only, because JSON text may contain other line separators. `name` is for messages. */
export async function* decodeLines(
  source: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const chunk of source) {
    const lines = (rest + decodeUtf8(() => decoder.decode(chunk, { stream: true }), name)).split(
      '\n',
    )
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARACTERS_MAX) {
      throw new AppError('invalid_input', `${name} contains a line that is too long for an export.`)
    }
    yield* lines
  }
  rest += decodeUtf8(() => decoder.decode(), name)
  if (rest !== '') yield rest
}

export function decodeUtf8(decode: () => string, name: string): string {
  try {
    return decode()
  } catch (cause) {
    throw new AppError('invalid_input', `${name} is not UTF-8 text.`, {}, cause)
  }
}
