/**
 * Starts the worker process of a model.
 *
 * A process rather than a thread: the native addon cannot be loaded again after a thread that had loaded it has ended,
 * and may crash the whole process. A process can be killed, run out of memory and restart while the application only sees
 * an error.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../lib/errors.ts'
import { findPackageFolder } from '../../lib/package-folder.ts'

export type WorkerListener<Answer> = {
  onAnswer(answer: Answer): void
  /** The process has ended and will not answer. */
  onExit(because: string): void
}

export type WorkerProcess<Request, Answer> = {
  readonly pid: number | undefined
  listen(listener: WorkerListener<Answer>): void
  send(request: Request): void
  /** Keeps the application alive while a caller waits for the worker. */
  keepAlive(isNeeded: boolean): void
  stop(): Promise<void>
}

/** The model lives outside the heap; the vocabulary of a large tokenizer takes a few hundred megabytes. */
const HEAP_MEGABYTES_MAX = 1_024
const LAST_WORDS_MAX = 300

/** Runs the `worker.ts` beside the module with this URL. */
export function startWorkerProcess<Request extends object, Answer>(
  moduleUrl: string,
): WorkerProcess<Request, Answer> {
  const child = fork(workerFile(moduleUrl), [], {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${HEAP_MEGABYTES_MAX}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const lastWords = collectLastWords(child)
  const gone = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => {
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`
      resolve([how, lastWords()].filter((part) => part !== '').join(': '))
    })
  })
  return {
    pid: child.pid,
    listen({ onAnswer: answered, onExit: ended }) {
      child.on('message', (message) => answered(message as Answer)) // sent by our own worker
      gone.then(ended)
    },
    // Without a callback, sending to an ended process would throw; its exit is reported anyway.
    send: (request) => void child.send(request, () => {}),
    keepAlive: (isNeeded) => hold(child, isNeeded),
    async stop() {
      hold(child, true)
      child.kill('SIGKILL')
      await gone
    },
  }
}

function hold(child: ChildProcess, isNeeded: boolean): void {
  for (const handle of [child, child.channel]) {
    if (isNeeded) handle?.ref()
    else handle?.unref()
  }
}

/** Tail of standard error, for the exit message. */
function collectLastWords(child: ChildProcess): () => string {
  let words = ''
  const stream = child.stderr as Socket | null // a pipe to a child process is a socket
  stream?.unref()
  stream?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-LAST_WORDS_MAX)
  })
  return () => words.trim()
}

/**
 * The compiled worker. When the sources run, as in tests, it is the one in `dist`: Node before version 22 cannot run
 * TypeScript. `scripts/ready.mjs` builds it before the tests.
 */
function workerFile(moduleUrl: string): string {
  const here = dirname(fileURLToPath(moduleUrl))
  const root = findPackageFolder()
  const isSource = moduleUrl.endsWith('.ts')
  const folder = isSource ? join(root, 'dist', relative(join(root, 'src'), here)) : here
  const file = join(folder, 'worker.js')
  if (existsSync(file)) return file
  throw new AppError(
    'missing_part',
    `The program ${file} is missing. Reinstall Recollect, or run: npm run build`,
    { path: file },
  )
}
