/** Demonstrates Recollect with the memories of a fictional person. */
import {
  addMemory,
  forgetMemory,
  updateMemory,
} from '../../../operations/memories/memory-operations.ts'
import { defineCommand, type Invocation, UsageError } from '../../command.ts'
import type { CliEnvironment } from '../../host.ts'
import { createLocalClient } from '../../local-client.ts'
import type { OperationClient } from '../../operation-client.ts'
import { formatMemoryCount, quoteForShell } from '../../output/text-rendering.ts'
import { DEMO, type DemoStep } from './demo-memories.ts'

export const demoCommand = defineCommand({
  name: 'demo',
  group: 'Administration',
  summary: 'Create a temporary database with the memories of a fictional person.',
  details: 'Your own memories are not changed. `--data` selects the folder, which must be new.',
  arguments: [],
  options: {},
  examples: ['recollect demo'],
  isLocalOnly: true,
  async run(call) {
    const { folder, setup } = placeFor(call)
    const operations = createLocalClient({
      setup,
      version: call.host.version,
      signal: call.host.stopSignal,
    })
    const ids = new Map<string, string>()
    try {
      for (const step of DEMO) await take(operations, step, ids)
    } finally {
      await operations.close()
    }
    const at = `--data ${quoteForShell(folder)}`
    const tries = [
      ['Ask something, in your own words', `recollect search "what can I cook for guests" ${at}`],
      ['See how the answer came about', `recollect search "where does she live" --explain ${at}`],
      ['See what changed, and when', `recollect history ${ids.get('desk') ?? ''} ${at}`],
    ] as const
    const removal =
      call.host.homes.platform === 'win32'
        ? `rmdir /s ${quoteForShell(folder)}`
        : `rm -r ${quoteForShell(folder)}`
    const { bold, dim } = call.style
    const number = DEMO.filter(({ does }) => does === 'say').length
    const text = [
      `Meet Nell Varga, who repairs clocks in Trieste. ${formatMemoryCount(number)} of hers are in ${folder}`,
      '',
      bold('Three things to try:'),
      ...tries.map(([what, commandLine]) => `  ${dim(`${what}:`)}\n  ${commandLine}`),
      '',
      `When you have seen enough: ${removal}`,
    ].join('\n')
    return {
      json: { folder, memories: number, try: tries.map((each) => each[1]), removal },
      text,
    }
  },
})

function placeFor(call: Invocation): { readonly folder: string; readonly setup: CliEnvironment } {
  const { explicitDataFolder: dataNamed, database } = call.getEnvironment()
  if (!call.hasDataOption || dataNamed === null) {
    const folder = call.host.makeTemporaryFolder()
    return { folder, setup: call.host.configure({ data: folder }) }
  }
  if (database.state() !== 'missing') {
    throw new UsageError(`There is a database in ${database.folder} already. Name a new folder.`)
  }
  return { folder: database.folder, setup: call.getEnvironment() }
}

async function take(operations: OperationClient, step: DemoStep, ids: Map<string, string>) {
  const idOf = (name: string) => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`The demo has no memory "${name}".`)
    return id
  }
  switch (step.does) {
    case 'say': {
      const { does: _, name, ...input } = step
      const { id } = await operations.perform(addMemory, { ...input, source: 'demo' })
      if (name !== undefined) ids.set(name, id)
      return
    }
    case 'edit':
      await operations.perform(updateMemory, { id: idOf(step.name), content: step.content })
      return
    case 'forget':
      await operations.perform(forgetMemory, { id: idOf(step.name) })
      return
  }
}
