/** A question to Gemini through the gateway, which adds memory: only the base URL and the key differ. */
import { GoogleGenAI } from '@google/genai'

const {
  RECOLLECT_URL = 'http://127.0.0.1:20128',
  RECOLLECT_API_KEY: apiKey,
  MODEL = 'demo/echo',
} = process.env
const [session, ...words] = process.argv.slice(2)
if (!apiKey || words.length === 0) {
  process.stderr.write('Usage: RECOLLECT_API_KEY=rc_… node chat.mjs <session> <message>\n')
  process.exit(2)
}

const client = new GoogleGenAI({
  apiKey,
  httpOptions: {
    baseUrl: RECOLLECT_URL,
    headers: { 'x-recollect-user': 'ada', 'x-recollect-session': session },
  },
})
const { text } = await client.models.generateContent({ model: MODEL, contents: words.join(' ') })
process.stdout.write(`${text}\n`)
