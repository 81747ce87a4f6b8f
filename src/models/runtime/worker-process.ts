/**
 * Starts the process in which a model runs.
 *
 * It is a process and not a thread because of the native runtime: its addon can't be loaded again in a process where a
 * thread that had loaded it has ended, and may take the whole process down when it is tried. A process of its own can
 * be killed, run out of memory and be started again without the application noticing more than an error.
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
  /** It is gone, and won't answer anything any more. */
  onExit(because: string): void
}

export type WorkerProcess<Request, Answer> = {
  readonly pid: number | undefined
  listen(listener: WorkerListener<Answer>): void
  send(request: Request): void
  /** Whether the application must not end while this worker lives, because somebody waits for an answer. */
  keepAlive(isNeeded: boolean): void
  stop(): Promise<void>
}

/** The model itself lives outside of this heap; the vocabulary of a large tokenizer needs a few hundred megabytes. */
const HEAP_MEGABYTES_MAX = 1_024
const LAST_WORDS_MAX = 300

/** Runs the `worker.ts` that stands beside the module with this address. */
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
      child.on('message', (message) => answered(message as Answer)) // from our own worker
      gone.then(ended)
    },
    // Without a callback, sending to a process that has just ended would throw; that it ended is told anyway.
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

/** What the process last wrote to its standard error, for the message that it ended. */
function collectLastWords(child: ChildProcess): () => string {
  let words = ''
  const stream = child.stderr as Socket | null // that is what a pipe to a process is
  stream?.unref()
  stream?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-LAST_WORDS_MAX)
  })
  return () => words.trim()
}

/**
 * The compiled worker. Where the sources themselves run, which is in tests, it is the one in `dist`: a new process is
 * Node alone, which reads no TypeScript before version 22. `scripts/ready.mjs` builds it before the tests.
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
    `The program ${file} is missing. Install Recollect again, or run: npm run build`,
    { path: file },
  )
}
