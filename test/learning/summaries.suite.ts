/** What summarizing promises, run over every store that can be opened here. */
import { describe, expect, it } from 'vitest'
import type { SessionId, UserId } from '../../src/domain/ids.ts'
import { comparePlaces, type Scope } from '../../src/domain/scope.ts'
import { summarize, summarizeMemories } from '../../src/learning/summaries/summarizer.ts'
import { SUMMARY_PROMPT_VERSION } from '../../src/learning/summaries/summary-prompt.ts'
import { ADA, type OpenStore, openOwner } from './consolidation-support.ts'

const LONG =
  'We met in Rome. It rained. We had soup. Then we left, and nothing else is worth a word.'

async function openNotes(open: OpenStore) {
  const owner = await openOwner(open)
  const ports = owner.portsOn(owner.store, {})
  const place = (user: string | null, session: string | null = null) => ({
    owner: ADA.owner,
    user: user as UserId | null,
    session: session as SessionId | null,
  })
  const notes = async (count: number, days: number, where = place(null)) =>
    owner.put(
      ...Array.from({ length: count }, (_, n) =>
        owner.fact(`${LONG} (${n})`, days, { place: where }),
      ),
    )
  return { ...owner, ports, place, notes }
}

export function describeSummaries(name: string, open: OpenStore): void {
  describe(`${name}: summaries`, () => {
    it('[CN16] keeps the newest that fit, and summarizes the rest', async () => {
      const { ports, notes, active } = await openNotes(open)
      const all = await notes(6, 1)
      const dry = await summarizeMemories(ports, ADA, { maxTokens: 50, dryRun: true })
      expect(dry.candidates.map(({ id }) => id)).toEqual(all.slice(0, 4).map(({ id }) => id))
      expect(dry.tokensSaved).toBeGreaterThan(0)
      expect(await active()).toHaveLength(6)
      const done = await summarizeMemories(ports, ADA, { maxTokens: 50 })
      expect(done).toMatchObject({ superseded: 4, tokensSaved: dry.tokensSaved })
      expect(await active()).toHaveLength(3)
      // What is summarized already takes no room from what isn't.
      expect(await summarizeMemories(ports, ADA, { maxTokens: 50 })).toMatchObject({
        superseded: 0,
      })
    })

    it('[CN16] what rules can’t say shorter is left alone, unless a model can', async () => {
      const { ports, put, fact, notes, active } = await openNotes(open)
      const short = await put(
        ...Array.from({ length: 510 }, (_, n) => fact(`Tea number ${n} is good.`, 60)),
      )
      expect(await summarize(ports, ADA, { dryRun: true })).toMatchObject({
        candidates: [],
        tokensSaved: 0,
      })
      // They keep nothing that is newer from its turn either.
      await notes(3, 40)
      const dry = await summarize(ports, ADA, { dryRun: true })
      expect(dry.candidates).toHaveLength(3)
      const done = await summarize(ports, ADA, {})
      expect(done).toMatchObject({ superseded: 3, tokensSaved: dry.tokensSaved })
      expect(await active()).toHaveLength(short.length + 1)
      const failing = async () => Promise.reject(new Error('no model'))
      expect(await summarize(ports, ADA, { writeSummary: failing })).toMatchObject({
        superseded: 0,
        tokensSaved: 0,
        wording: null,
      })
      const word = async () => 'There is a lot of good tea.'
      expect(await summarize(ports, ADA, { writeSummary: word })).toMatchObject({ superseded: 500 })
    })

    it('[CN16] takes 4,000 tokens unless told, and refuses none', async () => {
      const { ports, notes } = await openNotes(open)
      await notes(6, 1)
      expect(await summarizeMemories(ports, ADA)).toMatchObject({ candidates: [], superseded: 0 })
      for (const wrong of [{ maxTokens: 0 }, { olderThanDays: 0 }, { olderThanDays: 366 }]) {
        const { code } = await summarize(ports, ADA, wrong).then(
          () => ({ code: 'none' }),
          (error: { readonly code: string }) => error,
        )
        expect(code).toBe('invalid_input')
      }
    })

    it('[CN16] never mixes users or owners, and stays in a named session', async () => {
      const { ports, notes, place, store } = await openNotes(open)
      await notes(3, 40, place('u1', 'one'))
      await notes(3, 40, place('u2'))
      await notes(3, 40, place('u1', 'two'))
      const { summaries } = await summarize(ports, { ...ADA, session: 'one' as SessionId }, {})
      expect(summaries.map((memory) => memory.place)).toEqual([place('u1', 'one')])
      const both = await summarize(ports, ADA, {})
      const places = both.summaries.map((memory) => memory.place)
      expect(places.sort(comparePlaces)).toEqual([place('u1'), place('u2')])
      const other: Scope = { owner: 'bob' as typeof ADA.owner }
      expect(await summarize(ports, other, {})).toMatchObject({ candidates: [] })
      expect((await store.find('memory', other, { where: {}, limit: 1 })).rows).toEqual([])
    })

    it('[CN16] excludes memories that wait for approval, are pinned or belong to an identity', async () => {
      const { ports, put, fact } = await openNotes(open)
      await put(
        fact(`${LONG} a`, 40, { trust: 'suspect' }),
        fact(`${LONG} b`, 40, { pinned: true }),
        fact(`${LONG} c`, 40, { category: 'identity' }),
        fact(`${LONG} d`, 40, { trust: 'tool' }),
        fact(`${LONG} e`, 40),
      )
      const { summaries, superseded } = await summarize(ports, ADA, {})
      expect(superseded).toBe(2)
      expect(summaries).toMatchObject([{ trust: 'tool', metadata: { memories: 2 } }])
    })

    it('[CN16] a model may word it; where it fails or says too much, rules do', async () => {
      for (const [word, wording] of [
        [async () => ' They met in Rome. ', 'model'],
        [async () => '  ', 'rules'],
        [async () => 'word '.repeat(5_000), 'rules'],
        [async () => Promise.reject(new Error('no model')), 'rules'],
      ] as const) {
        const extractorVersion = wording === 'model' ? SUMMARY_PROMPT_VERSION : 'rules-1'
        const { ports, notes } = await openNotes(open)
        await notes(3, 40)
        const { summaries } = await summarize(ports, ADA, { writeSummary: word })
        expect(summaries).toMatchObject([
          { metadata: { wording }, provenance: { extractorVersion } },
        ])
        if (wording === 'model') expect(summaries[0]?.content).toBe('They met in Rome.')
        else expect(summaries[0]?.content).toContain('We met in Rome. It rained. We had soup.')
      }
    })

    it('[CN16] one undo brings all of them back', async () => {
      const { ports, notes, undo, active } = await openNotes(open)
      const all = await notes(120, 40)
      const { summaries, superseded } = await summarize(ports, ADA, {})
      expect(superseded).toBe(120)
      expect(summaries.length).toBeGreaterThan(1)
      await undo(summaries[0]?.change)
      expect((await active()).map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    })
  })
}
