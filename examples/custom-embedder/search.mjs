/** Stores a few facts with vectors of the example's own embedder, and finds them by misspelled words. */
import { createEngine } from 'recollect'
import { createTrigramEmbedder } from './embedder.mjs'

const FACTS = [
  'The espresso machine is in the basement',
  'Fire drills take place in September',
  'Ada maintains the deployment scripts',
]
const question = process.argv.slice(2).join(' ') || 'expresso mashine'

const memory = await createEngine({
  path: process.env.DATABASE ?? 'facts.db',
  embedding: createTrigramEmbedder(),
})
const team = { owner: 'team' }
for (const content of FACTS) await memory.remember(team, { content })
const { memories } = await memory.recall(team, { text: question, strategy: 'semantic' })
for (const { memory: found } of memories.slice(0, 1)) process.stdout.write(`${found.content}\n`)
await memory.close()
