/** A real server on a database of its own, and the command line that asks it. */
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { serve } from '../../../src/app/serve.ts'
import type { Role } from '../../../src/domain/access.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Cli, createCli } from './cli-host.ts'

export type Served = {
  readonly url: string
  readonly engine: Engine
  readonly managementKey: string
  /** The command line with the management key, or with a new one of this role. */
  cli(role?: Role, home?: string): Promise<Cli>
}

/** `onEnd` registers what closes the server: the end of the test, unless several tests share it. */
export async function startServer(
  onEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<Served> {
  const engine = await createEngine({
    path: join(temporaryFolder(), 'recollect.db'),
    embedding: { source: 'static' },
  })
  const serving = await serve({ host: '127.0.0.1', port: 0, engine, version: '1.2.3' })
  onEnd(async () => {
    await serving.close()
    await engine.close()
  })
  const managementKey = serving.managementKey ?? ''
  return {
    url: serving.url,
    engine,
    managementKey,
    cli: async (role, home = 'default') => {
      const secret =
        role === undefined
          ? managementKey
          : (await engine.admin.keys.create({ name: 'a test', defaultOwner: home, role })).secret
      return createCli(join(temporaryFolder(), 'unused'), ['--url', serving.url, '--key', secret])
    },
  }
}
