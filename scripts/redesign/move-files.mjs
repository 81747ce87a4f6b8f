// usage: node move.mjs <repo> <mapping.tsv (repo-relative old \t new)> [--dry]
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix } from 'node:path'

const [repo, tsv] = process.argv.slice(2)
const map = new Map()
for (const line of readFileSync(tsv, 'utf8').split('\n')) {
  if (!line.trim()) continue
  const [a, b] = line.split('\t')
  if (a !== b) map.set(a, b)
}
const tracked = execFileSync('git', ['-C', repo, 'ls-files'], { encoding: 'utf8', maxBuffer: 1e9 })
  .split('\n')
  .filter(Boolean)
const set = new Set(tracked)
for (const a of map.keys()) {
  if (!set.has(a)) {
    console.error('missing', a)
    map.delete(a)
  }
}
const targets = new Map()
for (const f of tracked) {
  const n = map.get(f) ?? f
  if (targets.has(n)) console.error('COLLISION', f, targets.get(n), n)
  targets.set(n, f)
}
const CODE = /\.(ts|tsx|mts|cts|mjs|js|css|html|json)$/
const candidates = (p) => [
  p,
  p.replace(/\.js$/, '.ts'),
  p.replace(/\.js$/, '.tsx'),
  `${p}.ts`,
  `${p}.tsx`,
  `${p}/index.ts`,
  `${p}/index.tsx`,
]
const rel = (from, to) => {
  const r = posix.relative(posix.dirname(from), to)
  return r.startsWith('.') ? r : `./${r}`
}
let changed = 0
const out = new Map()
// root-relative mentions, longest first
const mentions = []
for (const [a, b] of map) {
  mentions.push([a, b])
  if (a.startsWith('src/') && a.endsWith('.ts') && b.startsWith('src/'))
    mentions.push([
      a.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js'),
      b.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js'),
    ])
}
const mentionMap = new Map(mentions)
const MENTION =
  /(?<![\w/.-])(?:src|dist|test|evals|bench|scripts)\/[\w./-]+\.(?:tsx|ts|mjs|js)(?![\w])/g
for (const f of tracked) {
  if (/\.(png|jpg|gz|onnx|wasm|db|bin|svg|ico|woff2?)$/.test(f) || f === 'package-lock.json')
    continue
  let text
  try {
    text = readFileSync(join(repo, f), 'utf8')
  } catch {
    continue
  }
  if (text.includes('\0') || f.startsWith('scripts/redesign/')) continue
  const nf = map.get(f) ?? f
  let next = text
  if (CODE.test(f)) {
    next = next.replace(/(['"`])(\.{1,2}\/[^'"`\n$]*?)\1/g, (m, q, spec) => {
      const [bare, ...suffix] = spec.split(/(?=\?)/)
      const p = posix.normalize(posix.join(posix.dirname(f), bare))
      if (/[?#]:|[ *]/.test(spec) || spec === './' || spec === '../') return m
      if (p.startsWith('dist/') && mentionMap.has(p))
        return `${q}${rel(nf, mentionMap.get(p))}${suffix.join('')}${q}`
      const hit = candidates(p).find((c) => set.has(c))
      if (hit === undefined) {
        // folder reference or outside file: keep what it points to when the file moves
        if (nf === f) return m
        const abs = join(repo, p)
        if ((spec.startsWith('../') || spec.startsWith('./')) && existsSync(abs)) {
          console.error('folder/outside', f, spec)
          return `${q}${rel(nf, p)}${bare.endsWith('/') ? '/' : ''}${suffix.join('')}${q}`
        }
        return m
      }
      const nh = map.get(hit) ?? hit
      let r = rel(nf, nh)
      if (hit !== p) {
        // spelled differently
        if (p.endsWith('.js') && /\.tsx?$/.test(r)) r = r.replace(/\.tsx?$/, '.js')
        else if (!/\.[a-z]+$/.test(bare)) r = r.replace(/(\/index)?\.tsx?$/, '')
      }
      return `${q}${r}${suffix.join('')}${q}`
    })
  }
  next = next.replace(MENTION, (m) => mentionMap.get(m) ?? m)
  if (next !== text || nf !== f) {
    out.set(f, [nf, next, next !== text])
    if (next !== text) changed++
  }
}
for (const [f, [nf]] of out)
  if (nf !== f) {
    mkdirSync(dirname(join(repo, nf)), { recursive: true })
  }
// two-phase to survive swaps
const moves = [...out].filter(([f, [nf]]) => nf !== f)
for (const [f] of moves) renameSync(join(repo, f), join(repo, f + '.moving'))
for (const [f, [nf]] of moves) renameSync(join(repo, f + '.moving'), join(repo, nf))
for (const [, [nf, text, isChanged]] of out) if (isChanged) writeFileSync(join(repo, nf), text)
const prune = (d) => {
  let empty = true
  for (const e of readdirSync(d, { withFileTypes: true })) {
    if (e.isDirectory() && prune(join(d, e.name))) continue
    empty = false
  }
  if (empty) rmdirSync(d)
  return empty
}
for (const d of ['src', 'test'])
  for (const e of readdirSync(join(repo, d), { withFileTypes: true }))
    if (e.isDirectory()) prune(join(repo, d, e.name))
console.log(`${moves.length} moved, ${changed} changed`)
