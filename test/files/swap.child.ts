/** Swaps a folder with a link out of the root as fast as it can, until it is told to stop. */
import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const { folder, outside }: { folder: string; outside: string } = JSON.parse(String(process.argv[2]))
const at = (name: string) => join(folder, name)

symlinkSync(outside, at('link'))
process.stdout.write('ready\n')
process.stdin.on('data', () => process.exit(0))

function swap(): void {
  try {
    for (let round = 0; round < 200; round++) {
      renameSync(at('here'), at('away'))
      renameSync(at('link'), at('here'))
      renameSync(at('here'), at('link'))
      renameSync(at('away'), at('here'))
    }
  } catch {
    tryToRestore()
  }
  setImmediate(swap)
}

/** Whoever writes makes the folder when it is away, and may write to it while it is removed: then the next round does it. */
function tryToRestore(): void {
  try {
    if (!existsSync(at('away'))) return
    rmSync(at('here'), { recursive: true, force: true })
    renameSync(at('away'), at('here'))
    rmSync(at('link'), { force: true })
    symlinkSync(outside, at('link'))
  } catch {}
}

swap()
