/** One part of the bench in a process of its own: what it needs of memory is then its own, and so are its pauses. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { measureConsolidation } from './consolidation.ts'
import { fillOwner } from './owner.ts'
import { measureRecording } from './recording.ts'

const PARTS = { fill: fillOwner, record: measureRecording, consolidate: measureConsolidation }
type PartName = keyof typeof PARTS
type InputOf<P extends PartName> = Parameters<(typeof PARTS)[P]>[0]
type ResultOf<P extends PartName> = Awaited<ReturnType<(typeof PARTS)[P]>>
type Answer = { readonly result: unknown } | { readonly because: string }

export function inProcess<P extends PartName>(part: P, input: InputOf<P>): Promise<ResultOf<P>> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ part, input })], {
      execArgv: [...process.execArgv, '--expose-gc'],
    })
    child.on('message', (answer: Answer) => {
      if ('because' in answer) reject(new Error(answer.because))
      else resolve(answer.result as ResultOf<P>) // what the part of this name gives
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => reject(new Error(`${part} ended by ${signal ?? code}.`)))
  })
}

async function work(text: string): Promise<void> {
  const { part, input } = JSON.parse(text) as { part: PartName; input: never } // from inProcess
  try {
    process.send?.({ result: (await PARTS[part](input)) ?? null })
  } catch (error) {
    process.send?.({ because: error instanceof Error ? error.message : String(error) })
  } finally {
    process.disconnect?.()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] !== undefined) {
  await work(process.argv[2])
}
