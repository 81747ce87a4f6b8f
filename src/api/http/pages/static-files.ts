/** Static files of the Studio and the documentation. They hold no data of users. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { lazy } from '../../../lib/single-flight.ts'
import { createStaticResponder, HTML_TYPE } from '../messages/response.ts'
import type { BuiltinRoute } from '../request-context.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': HTML_TYPE,
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
}

export type FileRouteOptions = {
  readonly path: string
  readonly summary: string
  readonly folder: string
  /** Relative to the folder, with slashes. */
  readonly file: string
  readonly contentSecurityPolicy: string
  /** Whether the name contains a hash of the content, so that browsers may keep the file. */
  readonly isImmutable: boolean
  readonly isUndocumented: boolean
}

/** The files that can be served. Only files that exist at startup are, so no path can escape the folder. */
export function listStaticFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort()
  } catch {
    return []
  }
}

export function createFileRoute(options: FileRouteOptions): BuiltinRoute {
  const { path, summary, folder, file, contentSecurityPolicy, isImmutable, isUndocumented } =
    options
  const type = TYPES[extname(file)] ?? HTML_TYPE
  const answer = lazy(() => createStaticResponder(type, readFileSync(join(folder, file))))
  return {
    method: 'GET',
    path,
    summary,
    access: 'open',
    isUndocumented,
    answers: { 200: type.split(';')[0] ?? type },
    handle: async ({ request, response }) => {
      response.setHeader('content-security-policy', contentSecurityPolicy)
      response.setHeader(
        'cache-control',
        isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
      await answer()(request, response)
    },
  }
}
