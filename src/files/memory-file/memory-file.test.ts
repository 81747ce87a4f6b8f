import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findBlock,
  type MirroredMemory,
  type MirrorLine,
  mirroredText,
  planMirror,
  readMirror,
  renderMirror,
  tagOf,
  withBlock,
  withoutMirror,
} from './memory-file.ts'

function mirrored(id: string, text: string, isIdentity = false): MirroredMemory {
  return { id, tag: tagOf(id), text, isIdentity }
}

function line(text: string, tag: string | null = null): MirrorLine {
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
        const block = renderMirror([TEA], [], '\n')
        const file = `${before}\n${block}\n${after}`
        const changed = renderMirror([TEA, WORK], [], '\n')
        expect(withBlock(file, changed)).toBe(`${before}\n${changed}\n${after}`)
        expect(withBlock(file, block)).toBe(file)
      }),
    )
  })

  it('[MI1] goes to the end of a file that has none, behind all that is there', () => {
    const block = renderMirror([TEA], [], '\n')
    expect(withBlock('', block)).toBe(`${block}\n`)
    expect(withBlock('# Notes\n', block)).toBe(`# Notes\n\n${block}\n`)
    expect(withBlock('# Notes', block)).toBe(`# Notes\n\n${block}\n`)
    expect(withBlock('# Notes\r\n', block)).toBe(`# Notes\r\n\r\n${block}\r\n`)
  })

  it.each([
    ['a beginning without an end', '<!-- recollect:begin -->\n- a\n'],
    ['an end without a beginning', '- a\n<!-- recollect:end -->\n'],
    ['the wrong order', '<!-- recollect:end -->\n<!-- recollect:begin -->\n'],
    ['two pairs', '<!-- recollect:begin -->\n<!-- recollect:end -->\n'.repeat(2)],
  ])('[MI2] leaves a file alone that has %s', (_, text) => {
    expect(findBlock(text)).toBe('broken')
    expect(withBlock(text, 'anything')).toBe(text)
    expect(withoutMirror(text)).toBe(text)
  })

  it('[MI3] is read back to what was written, whatever memories say', () => {
    const content = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
    fc.assert(
      fc.property(fc.array(content, { maxLength: 5 }), fc.boolean(), (contents, isWindows) => {
        const memories = contents.flatMap((each, index) => {
          const text = mirroredText(each)
          return text === '' ? [] : [mirrored(`mem_${index}0000000`, text, index % 2 === 0)]
        })
        const file = withBlock('', renderMirror(memories, [], isWindows ? '\r\n' : '\n'))
        const block = findBlock(file)
        if (typeof block === 'string') throw new Error(block)
        const base = Object.fromEntries(memories.map(({ tag, text }) => [tag, text]))
        const plan = planMirror(readMirror(block.inside), base, memories)
        expect(plan).toEqual({ edits: [], added: [], removed: [] })
      }),
    )
  })

  it('[MI4] is blank for the index, and no line has another number', () => {
    const text = `# Notes\r\n${renderMirror([TEA, WORK], [], '\r\n')}\r\nThe end.\r\n`
    const blank = withoutMirror(text)
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
    expect(planMirror(written, BASE, both)).toEqual(nothing)
    expect(planMirror(null, BASE, both)).toEqual(nothing)
  })

  it('[MI5] another text is an edit', () => {
    const edited = [line('Ada prefers black tea.', TEA.tag), ...written.slice(1)]
    const edits = [{ id: TEA.id, text: 'Ada prefers black tea.' }]
    expect(planMirror(edited, BASE, both)).toEqual({ ...nothing, edits })
  })

  it('[MI5] another line is a new memory, and a copied one is none', () => {
    const added = [line('Ada has a parrot.')]
    expect(planMirror([...written, ...added], BASE, both)).toEqual({ ...nothing, added })
    expect(planMirror([...written, ...written], BASE, both)).toEqual(nothing)
  })

  it('[MI5] a line that is gone is let go', () => {
    expect(planMirror(written.slice(1), BASE, both)).toEqual({ ...nothing, removed: [TEA] })
  })

  it('[MI5] what changed elsewhere is only written', () => {
    const changed = [{ ...TEA, text: 'Ada prefers coffee.' }, WORK]
    expect(planMirror(written, BASE, changed)).toEqual(nothing)
    expect(planMirror(written, BASE, [WORK])).toEqual(nothing)
  })

  it('[MI6] what was changed on both sides is kept twice', () => {
    const changed = [{ ...TEA, text: 'Ada prefers coffee.' }, WORK]
    const edited = [line('Ada prefers black tea.', TEA.tag), ...written.slice(1)]
    const added = [line('Ada prefers black tea.', TEA.tag)]
    expect(planMirror(edited, BASE, changed)).toEqual({ ...nothing, added })
    expect(planMirror(edited, BASE, [WORK])).toEqual({ ...nothing, added })
    // A line that is gone here and another there: the memory stays.
    expect(planMirror(written.slice(1), BASE, changed)).toEqual(nothing)
  })

  it('[MI6] where nobody knows what was written, nothing is lost', () => {
    const edited = [line('Ada prefers black tea.', TEA.tag)]
    expect(planMirror(edited, {}, both)).toEqual({ ...nothing, added: edited })
  })
})
