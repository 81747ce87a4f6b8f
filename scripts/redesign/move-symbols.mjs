// usage: node move-symbols.mjs <repo> <tsv: file \t symbol \t target>  — moves top-level declarations with the language service's "Move to file"

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ts } from '@ts-morph/common'

const [repo, tsv] = process.argv.slice(2)
const t0 = Date.now()
const roots = new Set(
  execFileSync('git', ['-C', repo, 'ls-files', 'src', 'test', 'evals', 'bench'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((f) => /\.ts$/.test(f) && !f.startsWith('test/studio/'))
    .map((f) => join(repo, f))
    .filter(existsSync),
)
const config = ts.readConfigFile(join(repo, 'tsconfig.json'), ts.sys.readFile).config
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, repo)
const files = new Map() // path -> {text, version}
const get = (f) => {
  let e = files.get(f)
  if (!e) {
    const text = ts.sys.readFile(f)
    e = { text, version: 0 }
    files.set(f, e)
  }
  return e
}
const host = {
  getCompilationSettings: () => options,
  getScriptFileNames: () => [...roots],
  getScriptVersion: (f) => String(get(f).version),
  getScriptSnapshot: (f) => {
    const { text } = get(f)
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
  },
  getCurrentDirectory: () => repo,
  getDefaultLibFileName: () =>
    join(repo, 'node_modules/@typescript/typescript-linux-x64/lib/lib.es2023.full.d.ts'),
  fileExists: (f) => files.get(f)?.text !== undefined || ts.sys.fileExists(f),
  readFile: (f) => files.get(f)?.text ?? ts.sys.readFile(f),
  readDirectory: ts.sys.readDirectory,
  directoryExists: (d) =>
    ts.sys.directoryExists(d) || [...roots].some((r) => r.startsWith(d + '/')),
  getDirectories: ts.sys.getDirectories,
  useCaseSensitiveFileNames: () => true,
}
const ls = ts.createLanguageService(host)
const prefs = {
  importModuleSpecifierEnding: 'js',
  importModuleSpecifierPreference: 'relative',
  quotePreference: 'single',
  allowTextChangesInNewFiles: true,
  preferTypeOnlyAutoImports: true,
}
const fmt = {
  ...ts.getDefaultFormatCodeSettings('\n'),
  indentSize: 2,
  semicolons: ts.SemicolonPreference.Remove,
}
const set = (f, text) => {
  const e = files.get(f) ?? { version: 0 }
  e.text = text
  e.version++
  files.set(f, e)
  roots.add(f)
}
const apply = (changes) => {
  for (const { fileName, textChanges } of changes) {
    let text = files.get(fileName)?.text ?? (existsSync(fileName) ? get(fileName).text : '') ?? ''
    for (const { span, newText } of [...textChanges].sort((a, b) => b.span.start - a.span.start))
      text = text.slice(0, span.start) + newText + text.slice(span.start + span.length)
    set(fileName, text)
  }
}
let done = 0,
  miss = 0
for (const line of readFileSync(tsv, 'utf8').split('\n')) {
  if (!line.trim() || line.startsWith('#')) continue
  const [from, symbol, to] = line.split('\t')
  const source = join(repo, from),
    target = join(repo, to)
  const sf = ls.getProgram().getSourceFile(source)
  if (!sf) {
    console.error('NOFILE', line)
    miss++
    continue
  }
  const statements = sf.statements.filter(
    (s) =>
      s.name?.text === symbol ||
      (ts.isVariableStatement(s) &&
        s.declarationList.declarations.some((d) => d.name.getText(sf) === symbol)),
  )
  if (statements.length === 0) {
    console.error('NODECL', line)
    miss++
    continue
  }
  if (!roots.has(target)) set(target, 'export {}\n')
  const span = { pos: statements[0].getStart(sf), end: statements.at(-1).getEnd() }
  try {
    const edits = ls.getEditsForRefactor(source, fmt, span, 'Move to file', 'Move to file', prefs, {
      targetFile: target,
    })
    if (!edits || edits.notApplicableReason)
      throw new Error(edits?.notApplicableReason ?? 'no edits')
    apply(edits.edits)
    done++
    if (get(target).text.startsWith('export {}'))
      set(target, get(target).text.replace(/^export \{\}\n/, ''))
    if (/^export \{ ?\};?\n/m.test(get(target).text))
      set(target, get(target).text.replace(/^export \{ ?\};?\n/m, ''))
  } catch (e) {
    console.error('FAIL', line, e.message.slice(0, 300))
    miss++
  }
}
for (const [f, { text, version }] of files)
  if (version > 0) {
    mkdirSync(dirname(f), { recursive: true })
    writeFileSync(f, text)
  }
console.log(`${done} moved, ${miss} missed, ${Date.now() - t0} ms`)
