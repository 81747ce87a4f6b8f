/** How question and text become one row of tokens, compared with the tokenizer of a real model. */
import { readFileSync } from 'node:fs'
import { Tokenizer } from '@huggingface/tokenizers'
import { describe, expect, it } from 'vitest'
import { createPairEncoder } from '../../../src/models/rerankers/pair-encoding.ts'
import { crossEncoderTokenizer } from '../../fakes/tiny-cross-encoder.ts'

const LIMITS = { tokensMax: 512, types: 2 }

function gteTokenizer(): Tokenizer {
  const read = (file: string) => JSON.parse(readFileSync(`models/gte-small-int8/${file}`, 'utf8'))
  return new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'))
}

/** The tiny tokenizer, whose rows are read here as words. */
function tinyPairing(limits: Partial<typeof LIMITS> = {}, frame?: object) {
  const { post_processor, ...rest } = crossEncoderTokenizer()
  const tokenizer = new Tokenizer({ ...rest, post_processor: frame ?? post_processor }, {})
  const pairing = createPairEncoder(tokenizer, { ...LIMITS, ...limits })
  return (question: string, text: string) => {
    const { ids, types } = pairing({ question, text })
    return { words: ids.map((id) => tokenizer.id_to_token(id)).join(' '), types: types.join('') }
  }
}

describe('a pair', () => {
  it('[RR4] is framed as the tokenizer of the model frames it', () => {
    const tokenizer = gteTokenizer()
    const pairing = createPairEncoder(tokenizer, LIMITS)
    for (const [question, text] of [
      ['Where does Ann live?', 'Ann: I moved to Oslo in May, after unbelievably long winters.'],
      ['', 'Something'],
      ['漢字 naïve café', '👍 \ud800 [SEP]'],
    ] as const) {
      const { ids, token_type_ids } = tokenizer.encode(question, {
        text_pair: text,
        return_token_type_ids: true,
      })
      expect(pairing({ question, text })).toEqual({ ids, types: token_type_ids })
    }
  })

  it('[RR4] is a pair as well when one of the two is blank', () => {
    const pairing = tinyPairing()
    expect(pairing('red', '')).toEqual({ words: '[CLS] red [SEP] [SEP]', types: '0001' })
    expect(pairing(' ', 'red')).toEqual({ words: '[CLS] [SEP] red [SEP]', types: '0011' })
  })

  it('[RR4] that is too long loses the end of the text, and all of its marks stay', () => {
    const pairing = tinyPairing({ tokensMax: 8 })
    expect(pairing('red', 'green blue cat mat tax')).toEqual({
      words: '[CLS] red [SEP] green blue cat mat [SEP]',
      types: '00011111',
    })
    expect(pairing('red green blue cat mat tax', 'friday').words).toBe(
      '[CLS] red green blue cat [SEP] friday [SEP]',
    )
    expect(pairing('red green blue cat', 'tax friday mat cat').words).toBe(
      '[CLS] red green [SEP] tax friday mat [SEP]',
    )
  })

  it('[RR4] that just fits loses nothing', () => {
    const pairing = tinyPairing({ tokensMax: 8 })
    expect(pairing('red green', 'blue cat mat').words).toBe(
      '[CLS] red green [SEP] blue cat mat [SEP]',
    )
  })

  it('[RR4] has only the types of tokens that the model knows', () => {
    expect(tinyPairing({ types: 1 })('red', 'blue').types).toBe('00000')
  })

  it('[RR4] has the marks of its model, also two in a row', () => {
    const frame = { type: 'RobertaProcessing', cls: ['[CLS]', 2], sep: ['[SEP]', 3] }
    expect(tinyPairing({ tokensMax: 8 }, frame)('red', 'blue cat mat tax').words).toBe(
      '[CLS] red [SEP] [SEP] blue cat mat [SEP]',
    )
  })

  it.each([
    [
      'for one text',
      { type: 'TemplateProcessing', single: [], pair: [{ Sequence: { id: 'A', type_id: 0 } }] },
    ],
    ['of nothing', { type: 'ByteLevel' }],
    ['with unknown marks', { type: 'BertProcessing', cls: ['[START]', 0], sep: ['[SEP]', 3] }],
  ])('[RR4] is refused by a tokenizer with a frame %s', (_, frame) => {
    expect(() => tinyPairing({}, frame)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  })
})
