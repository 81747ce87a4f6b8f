/** OpenAI's client library, at the gateway as at OpenAI. */
import OpenAI from 'openai'
import { describeOpenAi } from './openai.suite.ts'

describeOpenAi('openai', OpenAI)
