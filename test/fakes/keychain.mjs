/**
 * Stands in for the keychain tools of the platforms: `keychain.mjs <folder> <secret-tool | security | powershell.exe>`,
 * then the arguments of the tool. Secrets are in `secrets.json` in the folder; a file `locked` in it makes calls fail.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , folder = '', name = '', ...args] = process.argv
const store = join(folder, 'secrets.json')
const secrets = () => (existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : {})
const save = (account, secret) =>
  writeFileSync(store, JSON.stringify({ ...secrets(), [account]: secret }))
const stdin = () => readFileSync(0, 'utf8')
const end = (code, complaint = '') => {
  if (complaint !== '') process.stderr.write(`${complaint}\n`)
  process.exit(code)
}

/** `secret-tool` prints a secret without a line break, and nothing when there is none. */
function secretService() {
  const [command, ...rest] = args
  const attributes = rest.filter((word) => !word.startsWith('--'))
  if (attributes.join(' ') !== `service recollect account ${attributes[3]}`) end(2, 'usage')
  const account = attributes[3]
  if (existsSync(join(folder, 'locked'))) end(1, 'secret-tool: Cannot autolaunch D-Bus without X11')
  if (command === 'store') return save(account, stdin())
  const secret = secrets()[account]
  if (command === 'clear') save(account, undefined)
  else if (secret === undefined) end(1)
  else process.stdout.write(secret)
}

function security() {
  const words = args[0] === '-i' ? stdin().trim().split(' ') : args
  const findValue = (flag) => words[words.indexOf(flag) + 1]
  if (findValue('-s') !== 'recollect') end(2, 'usage')
  const account = findValue('-a')
  if (words[0] === 'add-generic-password') {
    // In interactive mode, `security` reports failures only in words.
    if (existsSync(join(folder, 'locked'))) end(0, 'User interaction is not allowed.')
    return save(account, findValue('-w'))
  }
  if (secrets()[account] === undefined) {
    end(44, 'security: SecKeychainSearchCopyNext: The specified item could not be found.')
  }
  if (words[0] === 'delete-generic-password') save(account, undefined)
  else process.stdout.write(`${secrets()[account]}\n`)
}

function powershell() {
  const script = args[args.indexOf('-Command') + 1]
  const [service, account, secret] = stdin().split('\n')
  if (service !== 'recollect' || !script.includes('PasswordVault')) end(1, 'usage')
  if (existsSync(join(folder, 'locked'))) end(1, 'Access is denied.')
  if (script.includes('$v.Add(')) return save(account, secret)
  if (secrets()[account] === undefined) end(3)
  if (script.includes('$v.Remove(')) save(account, undefined)
  else process.stdout.write(`${secrets()[account]}\r\n`)
}

const TOOLS = { 'secret-tool': secretService, security, 'powershell.exe': powershell }
TOOLS[name]()
