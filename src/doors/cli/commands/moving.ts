/** Commands that move memories between databases and files. */
import { ERRORS } from '../../../core/errors.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Imported } from '../../../engine/portability.ts'
import {
  type Answer,
  type Call,
  defineCommand,
  onlyWord,
  throwIfStopped,
  withEngine,
} from '../command.ts'
import { openForReading, writeWhole } from '../files.ts'
import { createProgress, percent } from '../progress.ts'
import { count, formatNumber } from '../render.ts'
import { linesOf } from '../text-input.ts'

const BUFFERED_CHARACTERS = 64 * 1024

export const exporting = defineCommand({
  name: 'export',
  group: 'Moving',
  summary: "Write an owner's memories, with history, as JSON Lines.",
  details:
    'One header, then one row per line, times in milliseconds since 1970; `import` reads it. Without a file it ' +
    'goes to standard output. A file appears only when it is complete.',
  arguments: [{ name: 'file', help: 'Where to, or - for standard output.' }],
  options: {
    'all-owners': { kind: 'flag', help: 'Everything of every owner.' },
    force: { kind: 'flag', help: 'Replace a file that is there.' },
  },
  examples: [
    'recollect export memories.jsonl',
    'recollect export --all-owners | gzip > all.jsonl.gz',
  ],
  async run(call) {
    const [file = '-'] = call.words
    return withEngine(call, { create: false }, async (engine) => {
      const rowsOf = engine.export(call.given['all-owners'] ? null : call.setup().scope)
      const lines = watched(call, rowsOf, file !== '-')
      if (file === '-') return printLines(call, lines)
      const written = await writeWhole(file, lines, { replace: call.given.force })
      const rows = written - 1 // the header is no row
      return { json: { file, rows }, text: `Wrote ${count(rows, 'row')} to ${file}` }
    })
  },
})

async function* watched(
  call: Call,
  lines: AsyncIterable<string>,
  isWhole: boolean,
): AsyncGenerator<string> {
  const progress = createProgress(call.host)
  let rows = 0
  try {
    for await (const line of lines) {
      throwIfStopped(call, isWhole ? 'Stopped; nothing was written.' : 'Stopped.')
      yield line
      progress.show(`Exporting: ${formatNumber(rows++)} rows`)
    }
  } finally {
    progress.clear()
  }
}

async function printLines(call: Call, lines: AsyncIterable<string>): Promise<null> {
  let buffered = ''
  for await (const line of lines) {
    buffered += `${line}\n`
    if (buffered.length < BUFFERED_CHARACTERS) continue
    await call.host.stdout.write(buffered)
    buffered = ''
  }
  await call.host.stdout.write(buffered)
  return null
}

export const importing = defineCommand({
  name: 'import',
  group: 'Moving',
  summary: 'Take in what `export` wrote.',
  details:
    'Owners, users, ids and history come back as they were. Importing the same file again changes nothing. Lines ' +
    'that cannot be read are told with their numbers and do not stop the others; then the exit code is 2.',
  arguments: [{ name: 'file', help: 'The export, or - for standard input.', isRequired: true }],
  options: {
    'into-owner': { kind: 'value', value: 'name', help: 'Give everything to this owner instead.' },
  },
  examples: ['recollect import memories.jsonl', 'gunzip -c all.jsonl.gz | recollect import -'],
  async run(call) {
    const file = onlyWord(call)
    const { bytes, size } =
      file === '-' ? { bytes: call.host.stdin.bytes(), size: 0 } : await openForReading(file)
    const imported = await withEngine(call, { create: true }, (engine) =>
      importFrom(call, engine, bytes, size),
    )
    return answerFor(imported)
  },
})

async function importFrom(
  call: Call<{ readonly 'into-owner': { kind: 'value'; value: string; help: string } }>,
  engine: Engine,
  bytes: AsyncIterable<Uint8Array>,
  size: number,
): Promise<Imported> {
  const name = call.words[0] === '-' ? 'Standard input' : 'The file'
  const owner = call.given['into-owner']
  const progress = createProgress(call.host)
  let read = 0
  async function* counted() {
    for await (const chunk of bytes) {
      throwIfStopped(call, 'Stopped. What was taken in stays; importing again goes on from there.')
      read += chunk.length
      yield chunk
    }
  }
  try {
    return await engine.import(linesOf(counted(), name), {
      ...(owner === undefined ? {} : { owner }),
      onProgress: (lines) =>
        progress.show(`Importing: ${formatNumber(lines)} lines${percent(read, size)}`),
    })
  } finally {
    progress.clear()
  }
}

function answerFor(imported: Imported): Answer {
  const { failures, failed } = imported
  const summary =
    `Imported ${formatNumber(imported.imported)}, updated ${formatNumber(imported.updated)}, ` +
    `skipped ${formatNumber(imported.skipped)} already there, failed ${formatNumber(failed)}.`
  const lines = failures.map(({ line, message }) => `  line ${line}: ${message}`)
  if (failed > failures.length) lines.push(`  and ${formatNumber(failed - failures.length)} more`)
  return {
    json: imported,
    text: [summary, ...lines].join('\n'),
    ...(failed > 0 ? { exit: ERRORS.invalid_input.exit } : {}),
  }
}
