/** Text and lines that come in from outside, as UTF-8 and nothing else: what is not valid is refused, not mangled. */
import { AppError } from '../../../lib/errors.ts'
import { type Invocation, UsageError } from '../command.ts'

/** Far above what one memory may hold; it keeps a wrong file from filling the memory of the machine. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024
/** A row of an export with every text at its limit and fully escaped stays below this. */
const LINE_CHARACTERS_MAX = 4 * 1024 * 1024

/** The words joined, or standard input for `-` or when it is piped in. */
export async function readTextArgument(
  call: Invocation,
  words: readonly string[] = call.positionals,
): Promise<string> {
  const { isStdinRequested: isStdinMeant, host } = call
  if (words.length > 0 && !isStdinMeant) return words.join(' ')
  if (host.stdin.isTerminal && !isStdinMeant) {
    throw new UsageError(
      'No text was given.',
      'Pass it as an argument, or pipe it to standard input.',
    )
  }
  return readStdinText(call)
}

/** All of standard input, without the one line end that shells put at the end of what they print. */
export async function readStdinText(call: Invocation): Promise<string> {
  const { stdin, stderr } = call.host
  if (stdin.isTerminal) {
    await stderr.write('Type the text; end it with Ctrl-D on a line of its own.\n')
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stdin.bytes()) {
    bytes += chunk.length
    if (bytes > TEXT_BYTES_MAX) {
      throw new UsageError(`Standard input is longer than ${TEXT_BYTES_MAX} bytes.`)
    }
    chunks.push(chunk)
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return decode(() => decoder.decode(Buffer.concat(chunks)), 'Standard input').replace(/\r?\n$/, '')
}

/** Lines as `\n` ends them. Nothing else does: JSON text may hold the other characters that look like line ends. */
export async function* decodeLines(
  source: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const chunk of source) {
    const lines = (rest + decode(() => decoder.decode(chunk, { stream: true }), name)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARACTERS_MAX) {
      throw new AppError('invalid_input', `${name} contains a line that is too long for an export.`)
    }
    yield* lines
  }
  rest += decode(() => decoder.decode(), name)
  if (rest !== '') yield rest
}

function decode(decoding: () => string, name: string): string {
  try {
    return decoding()
  } catch (cause) {
    throw new AppError('invalid_input', `${name} is not UTF-8 text.`, {}, cause)
  }
}
