import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FENCE_CLOSE, FENCE_OPEN } from '../../../domain/context-block.ts'
import { BLOCK_PLACEMENTS, type BlockPlacement } from '../../../domain/model-call.ts'
import type { JsonObject } from '../../../lib/json.ts'
import {
  createGeminiFormat,
  findGeminiFormat,
  geminiPath,
  hasEventStream,
  parseGeminiTarget,
} from './gemini-generate-content.ts'
import { listReferences } from './provider-references.ts'

const BLOCK = `${FENCE_OPEN}\n- Likes "tea" é 😀 (2026-03-01)\n${FENCE_CLOSE}`
const format = createGeminiFormat({ model: 'gemini-3-pro', action: 'generateContent' })

const parse = (body: object) => format.parseRequest(body as JsonObject)
const inject = (text: string, placement: BlockPlacement = 'turn-end') =>
  format.injectBlock(text, JSON.parse(text), BLOCK, placement)

describe('paths', () => {
  it('[FM22.1] name the model, also with a provider before it, and the action', () => {
    expect(parseGeminiTarget('/v1beta/models/gemini-3-pro:generateContent')).toEqual({
      model: 'gemini-3-pro',
      action: 'generateContent',
    })
    expect(parseGeminiTarget('/v1/models/demo/echo:countTokens')?.model).toBe('demo/echo')
    expect(parseGeminiTarget('/v1beta/models/demo%2Fecho:countTokens')?.model).toBe('demo/echo')
    expect(parseGeminiTarget('/v1beta/tunedModels/mine:generateContent')?.model).toBe(
      'tunedModels/mine',
    )
    for (const path of ['/v1beta/models', '/v1beta/models/gemini-3-pro', '/v2/models/a:b']) {
      expect(parseGeminiTarget(path)).toBeNull()
    }
  })

  it('[FM22.1] go out with the name at the provider', () => {
    expect(geminiPath({ model: 'gemini-3-pro', action: 'countTokens' })).toBe(
      '/models/gemini-3-pro:countTokens',
    )
    expect(geminiPath({ model: 'tunedModels/a b', action: 'x' })).toBe('/tunedModels/a%20b:x')
    const streaming = findGeminiFormat('/v1beta/models/gemini/pro:streamGenerateContent')
    expect(streaming?.toUpstreamPath?.('pro')).toBe('/models/pro:streamGenerateContent')
    expect(streaming?.parseRequest({ contents: [{}] }).isStreaming).toBe(true)
    expect(findGeminiFormat('/v1beta/models/pro:embedContent')).toBeNull()
    expect(hasEventStream('/x?alt=sse')).toBe(true)
    expect(hasEventStream('/x?alt=json')).toBe(false)
    expect(hasEventStream('/x')).toBe(false)
  })
})

describe('what a request says', () => {
  it('[FM22.2] is read in either spelling, from lists of parts and single parts', () => {
    const call = { functionCall: { name: 'weather', args: { city: 'Paris' } } }
    const contents = [
      { role: 'user', parts: [{ text: 'Hello' }, { inlineData: { data: 'AAAA' } }] },
      { role: 'model', parts: [{ text: 'thinking', thought: true }, { text: 'Hi.' }] },
      { parts: { text: 'Weather?' } },
      { role: 'model', parts: [call] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'weather', response: { sky: 'blue' } } }],
      },
    ]
    const asked = parse({
      contents,
      system_instruction: { parts: { text: 'Be brief.' } },
      generation_config: { max_output_tokens: 50 },
    })
    expect(asked.instructions).toBe('Be brief.')
    expect(asked.outputTokensMax).toBe(50)
    expect(asked.exchanges).toEqual([
      { user: 'Hello', assistant: 'Hi.' },
      { user: 'Weather?', assistant: null },
    ])
    expect(asked.toolResults).toEqual(['{"sky":"blue"}'])
    expect(asked.isMidAnswer).toBe(true)
    expect(asked.isStreaming).toBe(false)
  })

  it('[FM22.3] pictures and signatures do not count as text', () => {
    const of = (part: object) => parse({ contents: [{ parts: [part, { text: 'Hi' }] }] }).characters
    expect(of({ inlineData: { mimeType: 'image/png', data: 'x'.repeat(10_000) } })).toBeLessThan(
      100,
    )
    expect(of({ text: 'a', thoughtSignature: 'x'.repeat(10_000) })).toBeLessThan(100)
  })

  it('[FM22.4] has to have contents', () => {
    expect(() => parse({})).toThrow(/contents is not specified/)
    expect(() => parse({ contents: [] })).toThrow(/contents is not specified/)
    expect(() => parse({ contents: ['Hi'] })).toThrow(/contents\[0\]/)
  })

  it('[FM22.9] files and cached contents at the provider are references', () => {
    const uri = 'https://generativelanguage.googleapis.com/v1beta/files/abc-123'
    const parts = [
      { fileData: { fileUri: uri } },
      { file_data: { file_uri: 'files/def' } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=files' } },
    ]
    const body = { cachedContent: 'cachedContents/xyz', contents: [{ parts }] }
    expect(listReferences('gemini', body).map(({ id }) => id)).toEqual([
      'cachedContents/xyz',
      'files/abc-123',
      'files/def',
    ])
  })
})

describe('a block', () => {
  const turn = { role: 'user', parts: [{ text: 'Hi' }] }

  it('[FM22.5] goes into the contents of the last turn of the user, or into the instructions', () => {
    const text = JSON.stringify({
      contents: [turn, { role: 'model', parts: [{ text: 'Yo' }] }, turn],
    })
    const parts = (placement: BlockPlacement) => JSON.parse(inject(text, placement) ?? '{}')
    expect(parts('turn-end').contents[2].parts).toEqual([{ text: 'Hi' }, { text: BLOCK }])
    expect(parts('turn-start').contents[2].parts).toEqual([{ text: BLOCK }, { text: 'Hi' }])
    expect(parts('message').contents[2]).toEqual({ role: 'user', parts: [{ text: BLOCK }] })
    expect(parts('system').systemInstruction).toEqual({ parts: [{ text: BLOCK }] })
  })

  it('[FM22.5] extends instructions in the spelling of the client', () => {
    const request = { system_instruction: { parts: { text: 'Be brief.' } }, contents: [turn] }
    const body = JSON.parse(inject(JSON.stringify(request), 'system') ?? '{}')
    expect(body.system_instruction.parts).toEqual([{ text: 'Be brief.' }, { text: BLOCK }])
    expect(body.systemInstruction).toBeUndefined()
  })

  it('[FM22.6] leaves cached instructions alone and follows results of functions', () => {
    const cached = JSON.stringify({ cachedContent: 'cachedContents/x', contents: [turn] })
    expect(JSON.parse(inject(cached, 'system') ?? '{}').systemInstruction).toBeUndefined()
    const result = { functionResponse: { name: 'f', response: {} } }
    const after = JSON.stringify({ contents: [{ parts: [result, { text: 'And?' }] }] })
    expect(JSON.parse(inject(after, 'turn-start') ?? '{}').contents[0].parts).toEqual([
      result,
      { text: BLOCK },
      { text: 'And?' },
    ])
    expect(inject(JSON.stringify({ contents: [{ parts: [result] }] }))).toBeNull()
  })

  it('[FM22.7] changes no other byte, whatever the request', () => {
    const part = fc.oneof(
      fc.record({ text: fc.string({ minLength: 1 }).filter((text) => text.trim() !== '') }),
      fc.record({ inlineData: fc.record({ data: fc.base64String() }) }),
    )
    const content = fc.record({
      role: fc.constantFrom('user', 'model'),
      parts: fc.oneof(fc.array(part, { minLength: 1, maxLength: 3 }), part),
    })
    const request = fc.record({
      contents: fc.array(content, { minLength: 1, maxLength: 4 }),
      systemInstruction: fc.option(fc.record({ parts: fc.array(part, { maxLength: 2 }) }), {
        nil: undefined,
      }),
      unknown: fc.jsonValue(),
    })
    const indents = fc.constantFrom(0, 2, '\t')
    fc.assert(
      fc.property(request, indents, fc.constantFrom(...BLOCK_PLACEMENTS), (body, indent, where) => {
        const text = JSON.stringify(body, null, indent)
        const injected = inject(text, where)
        const hasTurn = body.contents.some(({ role }) => role === 'user')
        const isSystem = where.startsWith('system')
        expect(injected === null).toBe(!hasTurn && !isSystem)
        if (injected === null) return
        // The text is the request with insertions.
        expect(injected.length).toBeGreaterThan(text.length)
        expect(isSubsequence(text, injected)).toBe(true)
        expect(injected.split(JSON.stringify(FENCE_OPEN).slice(1, -1)).length).toBe(2)
        // The block itself is no turn, and the words of the user are read as before.
        const before = parse(body).exchanges
        const after = parse(JSON.parse(injected)).exchanges
        expect(after).toEqual(before)
      }),
    )
  })
})

function isSubsequence(part: string, whole: string): boolean {
  let at = 0
  for (let index = 0; index < whole.length && at < part.length; index++) {
    if (whole[index] === part[at]) at++
  }
  return at === part.length
}

describe('an answer', () => {
  const chunk = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    responseId: 'r1',
  })
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 4,
    thoughtsTokenCount: 6,
    cachedContentTokenCount: 3,
  }

  it('[FM22.8] is read from events, from one body and from a list, without thoughts', () => {
    const chunks = [
      chunk([{ text: 'Let me see', thought: true }]),
      chunk([{ text: 'Jas' }]),
      { ...chunk([{ text: 'mine' }], { finishReason: 'STOP' }), usageMetadata },
    ]
    const expected = {
      id: 'r1',
      text: 'Jasmine',
      isComplete: true,
      isTruncated: false,
      hasToolCalls: false,
      usage: { input: 10, output: 10, cached: 3 },
    }
    const streamed = format.createAnswerReader()
    for (const each of chunks) streamed.readEvent({ name: '', data: JSON.stringify(each) })
    expect(streamed.isEnded()).toBe(true)
    expect(streamed.getAnswer()).toEqual(expected)
    const listed = format.createAnswerReader()
    listed.readBody(chunks)
    expect(listed.getAnswer()).toEqual(expected)
  })

  it('[FM22.8] is incomplete when it was cut, blocked or broken off', () => {
    const answerOf = (body: object) => {
      const reader = format.createAnswerReader()
      reader.readBody(body)
      return reader.getAnswer()
    }
    expect(answerOf(chunk([{ text: 'a' }], { finishReason: 'MAX_TOKENS' }))).toMatchObject({
      isComplete: false,
      isTruncated: true,
    })
    expect(answerOf(chunk([{ text: 'a' }], { finishReason: 'SAFETY' })).isComplete).toBe(false)
    expect(answerOf({ promptFeedback: { blockReason: 'SAFETY' } }).isComplete).toBe(false)
    expect(answerOf(chunk([{ text: 'a' }])).isComplete).toBe(false)
    const calling = chunk([{ functionCall: { name: 'f', args: {} } }], { finishReason: 'STOP' })
    expect(answerOf(calling).hasToolCalls).toBe(true)
  })
})
