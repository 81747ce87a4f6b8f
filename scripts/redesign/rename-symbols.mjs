// usage: node rename.mjs <repo> <symbols.tsv: path \t Name or Type.prop \t NewName>   (paths repo-relative, current)
// Finds all rename locations on one program, then applies all edits at once.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ts } from '@ts-morph/common'

const [repo, tsv] = process.argv.slice(2)
const t0 = Date.now()
const roots = execFileSync('git', ['-C', repo, 'ls-files', 'src', 'test', 'evals', 'bench'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((f) => /\.ts$/.test(f) && !f.startsWith('test/studio/'))
  .map((f) => join(repo, f))
  .filter(existsSync)
const config = ts.readConfigFile(join(repo, 'tsconfig.json'), ts.sys.readFile).config
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, repo)
const texts = new Map()
const read = (f) => {
  if (!texts.has(f)) texts.set(f, ts.sys.readFile(f))
  return texts.get(f)
}
const host = {
  getCompilationSettings: () => options,
  getScriptFileNames: () => roots,
  getScriptVersion: () => '1',
  getScriptSnapshot: (f) => {
    const t = read(f)
    return t === undefined ? undefined : ts.ScriptSnapshot.fromString(t)
  },
  getCurrentDirectory: () => repo,
  getDefaultLibFileName: () =>
    join(repo, 'node_modules/@typescript/typescript-linux-x64/lib/lib.es2023.full.d.ts'),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
}
const ls = ts.createLanguageService(host)
const program = ls.getProgram()
console.error('loaded', roots.length, Date.now() - t0)
const edits = new Map() // file -> Map(start -> {end,text})
let n = 0,
  miss = 0
for (const line of readFileSync(tsv, 'utf8').split('\n')) {
  if (!line.trim()) continue
  const [path, name, to] = line.split('\t')
  if (!to || name === to) continue
  const sf = program.getSourceFile(join(repo, path))
  if (!sf) {
    console.error('NOFILE', line)
    miss++
    continue
  }
  const [head, ...props] = name.split('.')
  let nameNode = null
  const visitTop = (node) => {
    if (nameNode) return
    if (
      node.name &&
      ts.isIdentifier(node.name) &&
      node.name.text === head &&
      (ts.isFunctionDeclaration(node) ||
        ts.isClassDeclaration(node) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node) ||
        ts.isEnumDeclaration(node) ||
        ts.isVariableDeclaration(node))
    ) {
      nameNode = node.name
      return
    }
    if (ts.isSourceFile(node) || ts.isVariableStatement(node) || ts.isVariableDeclarationList(node))
      ts.forEachChild(node, visitTop)
  }
  visitTop(sf)
  if (!nameNode) {
    console.error('NODECL', line)
    miss++
    continue
  }
  for (const prop of props) {
    const decl = nameNode.parent
    nameNode = null
    const find = (node) => {
      if (nameNode) return
      if (
        node.name &&
        (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name)) &&
        node.name.text === prop &&
        node !== decl &&
        (ts.isPropertySignature(node) ||
          ts.isMethodSignature(node) ||
          ts.isPropertyDeclaration(node) ||
          ts.isMethodDeclaration(node) ||
          ts.isPropertyAssignment(node) ||
          ts.isGetAccessor(node) ||
          ts.isShorthandPropertyAssignment(node))
      ) {
        nameNode = node.name
        return
      }
      ts.forEachChild(node, find)
    }
    find(decl)
    if (!nameNode) break
  }
  if (!nameNode) {
    console.error('NOPROP', line)
    miss++
    continue
  }
  const locations = ls.findRenameLocations(sf.fileName, nameNode.getStart(sf), false, false, {
    providePrefixAndSuffixTextForRename: true,
  })
  if (!locations) {
    console.error('NOLOC', line)
    miss++
    continue
  }
  const seen = locations.some(({ fileName }) => fileName.includes('node_modules'))
  if (seen) {
    console.error('EXTERNAL', line)
    miss++
    continue
  }
  for (const { fileName, textSpan, prefixText = '', suffixText = '' } of locations) {
    if (!edits.has(fileName)) edits.set(fileName, new Map())
    const byStart = edits.get(fileName)
    const old = byStart.get(textSpan.start)
    if (old) {
      // shorthand: both the property and the local of one identifier are renamed
      byStart.set(textSpan.start, {
        end: textSpan.start + textSpan.length,
        parts: [...old.parts, { prefixText, suffixText, to }],
      })
    } else
      byStart.set(textSpan.start, {
        end: textSpan.start + textSpan.length,
        parts: [{ prefixText, suffixText, to }],
      })
  }
  n++
  if (n % 100 === 0) console.error(n, Date.now() - t0)
}
for (const [file, byStart] of edits) {
  let text = read(file)
  for (const [start, { end, parts }] of [...byStart].sort((a, b) => b[0] - a[0])) {
    let out
    const unique = [...new Map(parts.map((p) => [JSON.stringify(p), p])).values()]
    if (unique.length === 1) {
      const [p] = unique
      out = p.prefixText + p.to + p.suffixText
    } else {
      // import/export specifier or shorthand: combine prefix of one with the suffix of the other
      const withPrefix = unique.find((p) => p.prefixText),
        withSuffix = unique.find((p) => p.suffixText),
        plain = unique.find((p) => !p.prefixText && !p.suffixText)
      if (withPrefix && withSuffix) {
        const sep = withPrefix.prefixText.includes(' as ') ? ' as ' : ': '
        out = withSuffix.to + sep + withPrefix.to
      } else {
        console.error('CONFLICT', file, start, JSON.stringify(unique))
        out = (plain ?? unique[0]).to
      }
    }
    text = text.slice(0, start) + out + text.slice(end)
  }
  writeFileSync(file, text)
}
console.log(`${n} renamed, ${miss} missed, ${edits.size} files, ${Date.now() - t0} ms`)
