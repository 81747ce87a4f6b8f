/** The browser that the Studio is tried in: the system's own, installed from Debian where that is possible. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const INSTALL_MS_MAX = 10 * 60_000

export function findChromium(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null
}

/** Only where it can be done without asking anyone: as root, on a system with apt. Once, before all tests. */
export function installChromium(): void {
  if (findChromium() !== null) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  process.stderr.write('Installing Chromium, to try the Studio in …\n')
  const options = {
    stdio: 'ignore',
    timeout: INSTALL_MS_MAX,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  } as const
  const install = ['install', '--yes', '--quiet', '--no-install-recommends', 'chromium']
  try {
    execFileSync('apt-get', install, options)
  } catch {
    // The lists of packages may be old or missing. When that fails too, the tests say what they lack.
    try {
      execFileSync('apt-get', ['update', '--quiet'], options)
      execFileSync('apt-get', install, options)
    } catch {
      process.stderr.write('Chromium can not be installed here.\n')
    }
  }
}
