/** The worker's side of `worker-process.ts`. */
import { type ErrorCode, type ErrorDetails, toAppError } from '../../lib/errors.ts'
import { Mutex } from '../../lib/mutex.ts'

export type WorkerFailure = {
  readonly kind: 'failed'
  readonly code: ErrorCode
  readonly message: string
  readonly facts: ErrorDetails
}

/** Serves one request at a time and exits with the parent process. */
export function serveParentProcess<Request>(answerTo: (request: Request) => Promise<object>): void {
  const mutex = new Mutex()
  process.on('message', (message) => {
    void mutex.run(() => serve(message as Request)) // sent by the parent process
  })
  process.on('disconnect', () => process.exit())
  // Ctrl-C in a terminal reaches both processes; the parent decides when this one ends.
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
  // The parent may be exiting; `disconnect` follows.
  process.send?.(answer, undefined, undefined, () => {})
}
