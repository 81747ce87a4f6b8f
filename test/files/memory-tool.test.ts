/** The memory tool beside the one that its makers ship: the same commands must be answered by the same words. */

import { existsSync, readdirSync, rmdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { betaMemoryTool, type MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory'
import type { BetaMemoryTool20250818Command as Command } from '@anthropic-ai/sdk/resources/beta'
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/app/system-clock.ts'
import { createWorkspace } from '../../src/files/local/local-workspace.ts'
import { createMemoryTool } from '../../src/files/memory-tool.ts'
import { AppError } from '../../src/lib/errors.ts'
import { folderWith, put } from './file-support.ts'

type Outcome = { readonly said?: unknown; readonly error?: string }

function ours(path: string): MemoryToolHandlers {
  return createMemoryTool(createWorkspace({ path, clock: systemClock }))
}

/** As a model's call arrives: through the library's own tool. */
async function outcomeOf(handlers: MemoryToolHandlers, command: Command): Promise<Outcome> {
  try {
    return { said: await betaMemoryTool(handlers).run(command) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

async function pair() {
  const [mine, theirs] = [folderWith({ 'memory/': '' }), folderWith({})]
  const reference = await BetaLocalFilesystemMemoryTool.init(theirs)
  return {
    tool: ours(mine),
    reference,
    mine: join(mine, 'memory'),
    theirs: join(theirs, 'memories'),
  }
}

/** The system's own words, with paths of this machine in them: no model should get those. */
const SYSTEM_WORDS = /^E[A-Z]+: /

async function expectSame(
  tool: MemoryToolHandlers,
  reference: MemoryToolHandlers,
  command: Command,
): Promise<void> {
  const [mine, theirs] = [await outcomeOf(tool, command), await outcomeOf(reference, command)]
  if (SYSTEM_WORDS.test(theirs.error ?? '')) {
    expect(mine.error).toEqual(expect.stringMatching(/./))
    expect(mine.error).not.toMatch(/\/tmp\/|\/proc\//)
  } else {
    expect(mine).toEqual(theirs)
  }
}

const name = fc.constantFrom(
  ...['', '/', '/a.md', '/b.md', '/a', '/a/b.md', '/a/b', '/a/b/c.md', '/a/b/c/d.md'],
  ...['/.hidden.md', '/node_modules/x.md', '/a/../b.md', '/./a.md', '/a//b.md', '/ü 中.md'],
  ...['/a.md/x.md', '/../memories/a.md', '/../../x', '/..', 'x.md', '/a/b/'],
)
const path = name.map((rest) => `/memories${rest}`)
const text = fc.constantFrom(
  ...[
    '',
    'one',
    'one\ntwo\nthree',
    'one\n',
    'two two\n\nfour $& $1',
    'x'.repeat(1_500),
    'ü\r\n中\n',
  ],
)
const word = fc.constantFrom('', 'one', 'two', 'x', '$&', 'four $', 'ü', 'none')
const number = fc.integer({ min: -2, max: 6 })

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ command: fc.constant('view' as const), path }),
  fc.record({
    command: fc.constant('view' as const),
    path,
    view_range: fc.oneof(fc.tuple(number, number), fc.tuple(number)),
  }),
  fc.record({ command: fc.constant('create' as const), path, file_text: text }),
  fc.record({ command: fc.constant('create' as const), path, file_text: text }),
  fc.record({
    command: fc.constant('str_replace' as const),
    path,
    old_str: word,
    new_str: fc.oneof(word, text),
  }),
  fc.record({
    command: fc.constant('insert' as const),
    path,
    insert_line: number,
    insert_text: text,
  }),
  fc.record({ command: fc.constant('delete' as const), path }),
  fc.record({ command: fc.constant('rename' as const), old_path: path, new_path: path }),
)

describe('compared with the library', () => {
  it('[FS22] answers any commands with the same words', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), async (commands) => {
        const { tool, reference, mine, theirs } = await pair()
        for (const one of commands) {
          await expectSame(tool, reference, one)
          // A rename that failed leaves empty folders there, and a failed create; here nothing.
          removeEmptyFolders(theirs, mine)
        }
      }),
      { numRuns: 150 },
    )
  }, 120_000)

  it('[FS22] reports the same sizes, depth and omissions', async () => {
    const { tool, reference, mine, theirs } = await pair()
    const files = {
      'small.md': 'x'.repeat(1_023),
      'exact.md': 'x'.repeat(1_024),
      'odd.md': 'x'.repeat(1_600),
      'large.md': 'x'.repeat(1_100_000),
      'deep/er/est.md': 'not shown',
      'deep/note.md': '',
      '.secret/x.md': 'not shown',
      'deep/node_modules/x.md': 'not shown',
    }
    put(mine, files)
    put(theirs, files)
    for (const path of ['/memories', '/memories/deep', '/memories/deep/', '/memories/deep/er']) {
      await expectSame(tool, reference, { command: 'view', path })
    }
    const { said } = await outcomeOf(tool, { command: 'view', path: '/memories' })
    expect(said).toContain('\t/memories/odd.md\n')
    expect(said).toContain('1.6K\t/memories/odd.md')
    expect(said).toContain('\t/memories/deep/er/')
    expect(said).not.toContain('not shown')
    expect(said).not.toMatch(/est\.md|secret|node_modules\/x/)
  })

  it('[FS22] shows up to 999,999 lines', async () => {
    const { tool, reference } = await pair()
    for (const [path, lines] of [
      ['/memories/most.md', 999_999],
      ['/memories/more.md', 1_000_000],
    ] as const) {
      const create = { command: 'create', path, file_text: 'x\n'.repeat(lines - 1) } as const
      await expectSame(tool, reference, create)
      await expectSame(tool, reference, { command: 'view', path })
      await expectSame(tool, reference, { command: 'view', path, view_range: [999_998, -1] })
    }
  })

  it('[FS24] refuses to be led out, in the same words', async () => {
    const { tool, reference, mine, theirs } = await pair()
    for (const folder of [mine, theirs]) {
      put(folder, { '../secrets/key.md': 'secret', 'here/note.md': 'fine' })
      symlinkSync('../secrets', join(folder, 'out'))
      symlinkSync('../secrets/key.md', join(folder, 'out.md'))
      symlinkSync('here/note.md', join(folder, 'in.md'))
    }
    const paths = [
      '/memories/out/key.md',
      '/memories/out.md',
      '/memories/out',
      '/memories/out/new/x',
    ]
    const wordsOnly = ['/memories/../secrets/key.md', '/memories/../../x', '/etc/passwd', '', 'x']
    for (const path of [...paths, ...wordsOnly, '/memories/in.md']) {
      await expectSame(tool, reference, { command: 'view', path })
      await expectSame(tool, reference, { command: 'create', path, file_text: 'x' })
      await expectSame(tool, reference, {
        command: 'insert',
        path,
        insert_line: 0,
        insert_text: 'x',
      })
      await expectSame(tool, reference, {
        command: 'rename',
        old_path: path,
        new_path: '/memories/y',
      })
      await expectSame(tool, reference, {
        command: 'rename',
        old_path: '/memories/here',
        new_path: path,
      })
      await expectSame(tool, reference, { command: 'delete', path })
    }
    expect(readdirSync(join(mine, '../secrets'))).toEqual(['key.md'])
  })
})

describe('on its own', () => {
  it('[FS24] refuses steps up that only a decoder would see', async () => {
    const tool = ours(folderWith({}))
    const hidden = [
      '%2e%2e/x',
      '%2E%2e%2Fx',
      '..%2fx',
      '%252e%252e/x',
      '..%5cx',
      'a\\..\\x',
      'a\0b',
    ]
    for (const path of hidden.map((rest) => `/memories/${rest}`)) {
      expect(await outcomeOf(tool, { command: 'create', path, file_text: 'x' })).toEqual({
        error: `Path ${path} would escape /memories directory`,
      })
    }
    const path = '/memories/100%25 sure.md'
    expect(await outcomeOf(tool, { command: 'create', path, file_text: 'x' })).toEqual({
      said: `File created successfully at: ${path}`,
    })
  })

  it('[FS23] replaces text over several lines, if it is there once', async () => {
    const tool = ours(folderWith({ 'memory/a.md': 'one\ntwo\nthree\none\ntwo\n' }))
    const replace = (old_str: string) =>
      outcomeOf(tool, { command: 'str_replace', path: '/memories/a.md', old_str, new_str: 'new' })
    expect((await replace('one\ntwo')).error).toContain('in lines: 1, 4. Please')
    expect((await replace('two\none')).error).toContain('did not appear verbatim')
    expect((await replace('two\nthree\n')).said).toBe(
      'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n' +
        '     1\tone\n     2\tnewone\n     3\ttwo\n     4\t',
    )
  })

  it('[FS23] shows an empty folder before anything was written', async () => {
    const tool = ours(join(folderWith({}), 'not', 'there'))
    expect((await outcomeOf(tool, { command: 'view', path: '/memories' })).said).toBe(
      "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories",
    )
    const path = '/memories/a/b.md'
    expect((await outcomeOf(tool, { command: 'create', path, file_text: 'x' })).said).toBe(
      `File created successfully at: ${path}`,
    )
    expect((await outcomeOf(tool, { command: 'view', path })).said).toBe(
      `Here's the content of ${path} with line numbers:\n     1\tx`,
    )
  })

  it('[FS23] loses no concurrent edit', async () => {
    const folder = folderWith({ 'memory/a.md': 'top' })
    const tools = [ours(folder), ours(folder)]
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
    await Promise.all(
      lines.map((line, index) =>
        (tools[index % 2] as MemoryToolHandlers).insert({
          command: 'insert',
          path: '/memories/a.md',
          insert_line: 1,
          insert_text: line,
        }),
      ),
    )
    const text = await createWorkspace({ path: folder, clock: systemClock }).read('memory/a.md')
    expect(text?.split('\n').sort()).toEqual([...lines, 'top'].sort())
  })

  it('[FS23] refuses an invalid command with an error for the model', async () => {
    const tool = ours(folderWith({ 'memory/a.md': 'x' }))
    // Models send what they like, whatever the types say.
    const broken = [
      { command: 'view' },
      { command: 'create', path: '/memories/b.md' },
      { command: 'str_replace', path: '/memories/a.md' },
      { command: 'insert', path: '/memories/a.md', insert_text: 'x' },
      { command: 'rename', old_path: '/memories/a.md' },
    ] as unknown as Command[]
    for (const command of broken) {
      await expect(Promise.resolve(betaMemoryTool(tool).run(command))).rejects.toBeInstanceOf(
        AppError,
      )
    }
  })
})

/** Folders that are empty there and not here. */
function removeEmptyFolders(theirs: string, mine: string): void {
  for (const entry of readdirSync(theirs, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const [folder, counterpart] = [join(theirs, entry.name), join(mine, entry.name)]
    removeEmptyFolders(folder, counterpart)
    if (!existsSync(counterpart) && readdirSync(folder).length === 0) rmdirSync(folder)
  }
}
