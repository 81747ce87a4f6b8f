/** Notes on a Recollect server: adds, finds, forgets and undoes, with the typed client and no other dependency. */
import { createClient, RecollectError } from 'recollect/client'

const { RECOLLECT_URL = 'http://127.0.0.1:20128', RECOLLECT_API_KEY } = process.env
const [verb, ...words] = process.argv.slice(2)
const text = words.join(' ')
if (!RECOLLECT_API_KEY || !['add', 'find', 'forget'].includes(verb) || text === '') {
  process.stderr.write('Usage: RECOLLECT_API_KEY=rc_… node notes.mjs add|find|forget <text>\n')
  process.exit(2)
}

const client = createClient({ url: RECOLLECT_URL, apiKey: RECOLLECT_API_KEY })
const me = { user: 'ada' }

try {
  if (verb === 'add') {
    const { outcome, memory } = await client.remember(me, { content: text })
    process.stdout.write(`${outcome}: ${memory.id}\n`)
  } else {
    const { memories } = await client.recall(me, { text, limit: 3 })
    for (const { memory } of memories) process.stdout.write(`${memory.content}\n`)
    if (verb === 'forget' && memories[0] !== undefined) {
      const { change } = await client.forget(me, memories[0].memory.id)
      process.stdout.write(`forgotten; undo with change ${change}\n`)
    }
  }
} catch (error) {
  if (!(error instanceof RecollectError)) throw error
  process.stderr.write(`${error.code}: ${error.message}\n`)
  process.exit(1)
}
