/** OpenAI's client library, at the gateway as at OpenAI. */
import OpenAI from 'openai'
import { describeOpenAi } from './openai-client.suite.ts'

describeOpenAi('openai', OpenAI)
