import { expect, it } from 'vitest'
import { estimateTokens } from '../../text/tokens.ts'
import { createTokenizers } from './openai-tokenizers.ts'

it('[GW14] counts tokens as OpenAI’s models do, and leaves others to the estimate', async () => {
  const tokenizers = createTokenizers()
  expect(tokenizers.for('gpt-5')).toBeUndefined()
  await tokenizers.load()
  const count = tokenizers.for('openai/gpt-5-mini')
  expect(count?.('hello world')).toBe(2)
  expect(count?.('Donaudampfschifffahrtsgesellschaft')).not.toBe(
    estimateTokens('Donaudampfschifffahrtsgesellschaft'),
  )
  expect(count?.('<|endoftext|>')).toBeGreaterThan(1)
  const chinese = '今天天气很好，我们去公园散步吧。'
  for (const earlier of ['gpt-4', 'gpt-4-turbo', 'openai/gpt-3.5-turbo']) {
    expect(tokenizers.for(earlier)?.(chinese)).toBeGreaterThan(count?.(chinese) ?? 0)
  }
  expect(tokenizers.for('gpt-4o')?.(chinese)).toBe(count?.(chinese))
  expect(tokenizers.for('gpt-4.1')?.(chinese)).toBe(count?.(chinese))
  for (const other of ['claude-sonnet-4-5', 'ollama/llama3', 'o10', '']) {
    expect(tokenizers.for(other)).toBeUndefined()
  }
})
