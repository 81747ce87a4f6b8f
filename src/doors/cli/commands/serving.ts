/** The command that keeps running: it serves until it is told to stop. */
import { defineCommand, withEngine } from '../command.ts'
import { wholeOf } from '../memory-fields.ts'

const PORT_MAX = 65_535

export const serve = defineCommand({
  name: 'serve',
  group: 'Upkeep',
  summary: 'Serve the memories over HTTP until stopped.',
  details:
    'Ctrl-C or a request to terminate ends it once running requests are done; a second one ends it at once.',
  arguments: [],
  options: {
    host: {
      kind: 'value',
      value: 'address',
      help: 'Where to listen. Default: 127.0.0.1, this machine only.',
    },
    port: { kind: 'value', value: 'n', help: 'Default: 20128. 0 takes any free one.' },
  },
  examples: ['recollect serve', 'recollect serve --host 0.0.0.0 --port 8080'],
  async run(call) {
    const { host } = call
    const { listen, serve: startServing, database } = call.setup()
    const { host: address = listen.host, port } = call.given
    return withEngine(call, { create: true }, async (engine) => {
      const serving = await startServing({
        host: address,
        port: port === undefined ? listen.port : wholeOf('port', port, 0, PORT_MAX),
        engine,
        version: host.version,
      })
      // Questions are answered by words until it is done; `status` tells what is wrong when it is not.
      engine.warmUp().catch(() => {})
      try {
        const text = `Recollect ${host.version} listens on ${serving.url}\nMemories: ${database.file}\nStop it with Ctrl-C.`
        await host.stdout.write(`${call.isJson ? JSON.stringify({ url: serving.url }) : text}\n`)
        await stopped(host.stop)
        if (!call.isJson) await host.stderr.write('Stopping…\n')
      } finally {
        await serving.close()
      }
      return null
    })
  },
})

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
