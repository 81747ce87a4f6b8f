/** Text from arguments and standard input. Invalid UTF-8 is refused. */
import { decodeUtf8 } from '../../../lib/utf8-lines.ts'
import { type Invocation, UsageError } from '../command.ts'

/** Far above the limit of a memory; it keeps a wrong file from exhausting memory. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024

/** The joined arguments, or standard input for `-` and for piped input. */
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

/** All of standard input without its trailing line end. */
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
  return decodeUtf8(() => decoder.decode(Buffer.concat(chunks)), 'Standard input').replace(
    /\r?\n$/,
    '',
  )
}
