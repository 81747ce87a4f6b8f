import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildMemoryTag,
  diffMemoryFile,
  findMemoryBlock,
  type MemoryFileEntry,
  type MemoryFileLine,
  parseMemoryBlock,
  removeMemoryBlock,
  renderEntryText,
  renderMemoryBlock,
  replaceMemoryBlock,
} from './memory-file.ts'

function mirrored(id: string, text: string, isIdentity = false): MemoryFileEntry {
  return { id, tag: buildMemoryTag(id), text, isIdentity }
}

function line(text: string, tag: string | null = null): MemoryFileLine {
  return { tag, text, isIdentity: false }
}

const TEA = mirrored('mem_00000tea', 'Ada prefers green tea.')
const WORK = mirrored('mem_0000work', 'Ada is a marine biologist.', true)
const BASE = { [TEA.tag]: TEA.text, [WORK.tag]: WORK.text }

describe('[MI1] the block', () => {
  it('[MI1] replaces only what is between its marks, in any file', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'ab #-*\n\r\ufeff\u4e2d<!>`'),
      maxLength: 200,
    })
    fc.assert(
      fc.property(text, text, (before, after) => {
        const block = renderMemoryBlock([TEA], [], '\n')
        const file = `${before}\n${block}\n${after}`
        const changed = renderMemoryBlock([TEA, WORK], [], '\n')
        expect(replaceMemoryBlock(file, changed)).toBe(`${before}\n${changed}\n${after}`)
        expect(replaceMemoryBlock(file, block)).toBe(file)
      }),
    )
  })

  it('[MI1] goes to the end of a file that has none, behind all that is there', () => {
    const block = renderMemoryBlock([TEA], [], '\n')
    expect(replaceMemoryBlock('', block)).toBe(`${block}\n`)
    expect(replaceMemoryBlock('# Notes\n', block)).toBe(`# Notes\n\n${block}\n`)
    expect(replaceMemoryBlock('# Notes', block)).toBe(`# Notes\n\n${block}\n`)
    expect(replaceMemoryBlock('# Notes\r\n', block)).toBe(`# Notes\r\n\r\n${block}\r\n`)
  })

  it.each([
    ['a beginning without an end', '<!-- recollect:begin -->\n- a\n'],
    ['an end without a beginning', '- a\n<!-- recollect:end -->\n'],
    ['the wrong order', '<!-- recollect:end -->\n<!-- recollect:begin -->\n'],
    ['two pairs', '<!-- recollect:begin -->\n<!-- recollect:end -->\n'.repeat(2)],
  ])('[MI2] leaves a file alone that has %s', (_, text) => {
    expect(findMemoryBlock(text)).toBe('broken')
    expect(replaceMemoryBlock(text, 'anything')).toBe(text)
    expect(removeMemoryBlock(text)).toBe(text)
  })

  it('[MI3] is parsed back to what was written, for any memory', () => {
    const content = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
    fc.assert(
      fc.property(fc.array(content, { maxLength: 5 }), fc.boolean(), (contents, isWindows) => {
        const memories = contents.flatMap((each, index) => {
          const text = renderEntryText(each)
          return text === '' ? [] : [mirrored(`mem_${index}0000000`, text, index % 2 === 0)]
        })
        const file = replaceMemoryBlock(
          '',
          renderMemoryBlock(memories, [], isWindows ? '\r\n' : '\n'),
        )
        const block = findMemoryBlock(file)
        if (typeof block === 'string') throw new Error(block)
        const base = Object.fromEntries(memories.map(({ tag, text }) => [tag, text]))
        const plan = diffMemoryFile(parseMemoryBlock(block.inside), base, memories)
        expect(plan).toEqual({ edits: [], added: [], removed: [] })
      }),
    )
  })

  it('[MI4] is blank for the index, and no line has another number', () => {
    const text = `# Notes\r\n${renderMemoryBlock([TEA, WORK], [], '\r\n')}\r\nThe end.\r\n`
    const blank = removeMemoryBlock(text)
    expect(blank).not.toContain('Ada')
    expect(blank.split('\r\n').length).toBe(text.split('\r\n').length)
    expect(blank.split('\r\n').indexOf('The end.')).toBe(text.split('\r\n').indexOf('The end.'))
  })
})

describe('[MI5] what people do to lines', () => {
  const both = [TEA, WORK]
  const written = [line(TEA.text, TEA.tag), { ...line(WORK.text, WORK.tag), isIdentity: true }]
  const nothing = { edits: [], added: [], removed: [] }

  it('[MI5] nothing was done', () => {
    expect(diffMemoryFile(written, BASE, both)).toEqual(nothing)
    expect(diffMemoryFile(null, BASE, both)).toEqual(nothing)
  })

  it('[MI5] another text is an edit', () => {
    const edited = [line('Ada prefers black tea.', TEA.tag), ...written.slice(1)]
    const edits = [{ id: TEA.id, text: 'Ada prefers black tea.' }]
    expect(diffMemoryFile(edited, BASE, both)).toEqual({ ...nothing, edits })
  })

  it('[MI5] another line is a new memory, and a copied one is none', () => {
    const added = [line('Ada has a parrot.')]
    expect(diffMemoryFile([...written, ...added], BASE, both)).toEqual({ ...nothing, added })
    expect(diffMemoryFile([...written, ...written], BASE, both)).toEqual(nothing)
  })

  it('[MI5] a removed line forgets its memory', () => {
    expect(diffMemoryFile(written.slice(1), BASE, both)).toEqual({ ...nothing, removed: [TEA] })
  })

  it('[MI5] what changed elsewhere is only written', () => {
    const changed = [{ ...TEA, text: 'Ada prefers coffee.' }, WORK]
    expect(diffMemoryFile(written, BASE, changed)).toEqual(nothing)
    expect(diffMemoryFile(written, BASE, [WORK])).toEqual(nothing)
  })

  it('[MI6] a change on both sides keeps both versions', () => {
    const changed = [{ ...TEA, text: 'Ada prefers coffee.' }, WORK]
    const edited = [line('Ada prefers black tea.', TEA.tag), ...written.slice(1)]
    const added = [line('Ada prefers black tea.', TEA.tag)]
    expect(diffMemoryFile(edited, BASE, changed)).toEqual({ ...nothing, added })
    expect(diffMemoryFile(edited, BASE, [WORK])).toEqual({ ...nothing, added })
    // A line that is gone here and another there: the memory stays.
    expect(diffMemoryFile(written.slice(1), BASE, changed)).toEqual(nothing)
  })

  it('[MI6] loses nothing without a record of the last write', () => {
    const edited = [line('Ada prefers black tea.', TEA.tag)]
    expect(diffMemoryFile(edited, {}, both)).toEqual({ ...nothing, added: edited })
  })
})
