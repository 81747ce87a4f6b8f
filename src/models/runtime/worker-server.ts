/** The other side of `worker-process.ts`: what runs inside of the process that it starts. */
import { type ErrorCode, type ErrorDetails, toAppError } from '../../lib/errors.ts'
import { Mutex } from '../../lib/mutex.ts'

export type WorkerFailure = {
  readonly kind: 'failed'
  readonly code: ErrorCode
  readonly message: string
  readonly facts: ErrorDetails
}

/** Serves one request after the other, and ends with the process that started this one. */
export function serveParentProcess<Request>(answerTo: (request: Request) => Promise<object>): void {
  const mutex = new Mutex()
  process.on('message', (message) => {
    void mutex.run(() => serve(message as Request)) // from the program that started this process
  })
  process.on('disconnect', () => process.exit())
  // Ctrl-C in a terminal reaches both processes. Whether this one ends is up to the other.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})

  async function serve(request: Request): Promise<void> {
    try {
      send(await answerTo(request))
    } catch (thrown) {
      const { code, message, facts } = toAppError(thrown)
      send({ kind: 'failed', code, message, facts } satisfies WorkerFailure)
    }
  }
}

function send(answer: object): void {
  // The other process may just be ending; `disconnect` follows.
  process.send?.(answer, undefined, undefined, () => {})
}
