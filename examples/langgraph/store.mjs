/** The long-term store of a LangGraph agent, on a Recollect engine. */
import { createEngine } from 'recollect'
import { RecollectStore } from 'recollect/langchain'

const memory = await createEngine({ path: process.env.DATABASE ?? 'memory.db' })
const store = new RecollectStore({ memory, owner: 'my-graph' })

await store.put(['users', 'ada'], 'drink', { text: 'Ada drinks green tea in the morning' })
await store.put(['users', 'ada'], 'home', { text: 'Ada lives in Lisbon near the river' })
await store.put(['users', 'ben'], 'drink', { text: 'Ben drinks black coffee' })

const question = process.argv.slice(2).join(' ') || 'what does she drink in the morning?'
const [found] = await store.search(['users', 'ada'], { query: question, limit: 1 })
process.stdout.write(`${found?.value.text ?? 'Nothing is known.'}\n`)
for (const namespace of await store.listNamespaces({ prefix: ['users'] })) {
  process.stdout.write(`${namespace.join('/')}\n`)
}
await memory.close()
