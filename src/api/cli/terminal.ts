/** Streams and prompts of the host, from those of a process. */
import { createInterface } from 'node:readline'
import { addAbortSignal, Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { AppError } from '../../lib/errors.ts'
import { type Input, type Output, OutputClosed } from './host.ts'

const COLUMNS = 80

export function createOutput(stream: WriteStream): Output {
  // Without a listener, a closed pipe would end the process with a stack trace; `write` rejects instead.
  stream.on('error', () => {})
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || COLUMNS // 0 when unknown
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => {
          if (error == null) resolve()
          else
            reject(
              isClosed(error) ? new OutputClosed('The reader of the output has closed it.') : error,
            )
        })
      }),
  }
}

function isClosed(error: Error): boolean {
  return 'code' in error && ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(String(error.code))
}

export function createInput(stream: ReadStream, stop: AbortSignal): Input {
  return {
    isTerminal: stream.isTTY === true,
    async *bytes() {
      try {
        yield* addAbortSignal(stop, stream)
      } catch (error) {
        throw stop.aborted ? new AppError('cancelled', 'Stopped.', {}, error) : error
      }
    },
  }
}

export type Terminal = { readonly input: ReadStream; readonly output: WriteStream }

export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  const answer = await prompt(terminal, `${question} [y/N] `, terminal.output)
  return /^y(es)?$/i.test(answer.trim())
}

export async function askSecret({ input, output }: Terminal, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  output.write(question)
  try {
    return await prompt({ input, output }, '', nowhere)
  } finally {
    output.write('\n')
  }
}

function prompt({ input }: Terminal, question: string, echo: Writable): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input, output: echo, terminal: true, historySize: 0 })
    let answer: string | null = null
    lines.on('SIGINT', () => {
      echo.write('\n')
      lines.close()
    })
    lines.on('close', () => {
      if (answer === null) reject(new AppError('cancelled', 'Canceled; nothing was changed.'))
      else resolve(answer)
    })
    lines.question(question, (text) => {
      answer = text
      lines.close()
    })
  })
}
