/** Adds logs, metrics and spans to a server. */

import type { RunningServer, ServeOptions } from '../api/cli/host.ts'
import type { RequestReport } from '../api/http/server-options.ts'
import type { MemoryFailure } from '../conversations/failures.ts'
import type { Engine } from '../engine/engine.ts'
import { readGauges } from '../engine/health.ts'
import { createReplicationListener, instrumentEngine } from '../engine/instrumentation.ts'
import type { EndedJob } from '../jobs/jobs.ts'
import { toAppError } from '../lib/errors.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { ModelCallReport } from '../models/guarded-models.ts'
import { createCompositeTelemetry } from '../telemetry/composite-telemetry.ts'
import { createJsonLog } from '../telemetry/json-log.ts'
import { createOtelTracing, startOtlpExporter } from '../telemetry/otel-tracing.ts'
import { createPrometheusMetrics } from '../telemetry/prometheus-metrics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Config } from './config/config.ts'

const SERVER_FAULT = 500

export async function serveWithTelemetry(
  options: ServeOptions,
  { log: level, telemetry: { endpoint, traceContent } }: Pick<Config, 'log' | 'telemetry'>,
  start: (options: ServeOptions) => Promise<RunningServer>,
): Promise<RunningServer> {
  const { engine: bare, version, host } = options
  // A terminal shows the address and the key, not a line per request.
  const log = createJsonLog({ level: level ?? (process.stderr.isTTY ? 'warn' : 'info') })
  const surroundings = { isStopping: false }
  const metrics = createPrometheusMetrics({
    process: true,
    gauges: async () => readGauges(await bare.status().catch(toAppError), surroundings),
  })
  const tracing = createOtelTracing({ version, captureContent: traceContent })
  const telemetry = createCompositeTelemetry({ log, metrics, tracing })
  const exporter =
    endpoint === null
      ? null
      : await startOtlpExporter({
          endpoint,
          version,
          onLost: (count, outcome) => {
            telemetry.count('recollect_spans_dropped_total', {}, count)
            telemetry.log('warn', 'spans_dropped', { count, outcome })
          },
        })
  const stopWatching = bare.admin.replication.subscribe(createReplicationListener(telemetry))
  const onFailure = (failure: MemoryFailure) => recordFailure(telemetry, failure)
  const stopReporting = bare.conversations.onFailure(onFailure)
  const engine = instrumentEngine(bare, telemetry)
  const serving = await start({
    ...options,
    engine,
    metrics: () => metrics.text(),
    onRequest: (report) => recordRequest(telemetry, report),
    onFailure,
    onAnswer: ({ provider, outcome }) =>
      telemetry.count('recollect_provider_responses_total', { provider, outcome: String(outcome) }),
  })
  telemetry.log('info', 'started', { host, version })
  await startJobs(bare, telemetry)
  await startFiles(bare, telemetry)
  return {
    ...serving,
    close: async () => {
      surroundings.isStopping = true
      telemetry.log('info', 'stopping')
      await Promise.all([serving.close(), bare.jobs.stop()])
      stopWatching()
      stopReporting()
      await yieldToEventLoop() // The last events are logged by then.
      telemetry.log('info', 'stopped')
      await exporter?.close()
      await log.close()
    },
  }
}

/** A store that is temporarily read-only can still be served. */
async function startJobs({ jobs }: Engine, telemetry: Telemetry): Promise<void> {
  try {
    await jobs.start({
      onJobEnded: (ended) => recordJob(telemetry, ended),
      onModelCall: (call) => recordModelCall(telemetry, call),
    })
  } catch (error) {
    telemetry.log('warn', 'job_finished', { outcome: toAppError(error).code, error })
  }
}

/** The same holds for files that cannot be watched at the moment. */
async function startFiles({ files }: Engine, telemetry: Telemetry): Promise<void> {
  try {
    await files?.start()
  } catch (error) {
    telemetry.log('warn', 'file_watch_failed', { outcome: toAppError(error).code, error })
  }
}

function recordJob(
  telemetry: Telemetry,
  { kind: job, outcome, ms: durationMs, error }: EndedJob,
): void {
  telemetry.count('recollect_jobs_total', { job, outcome })
  telemetry.observe('recollect_job_seconds', durationMs / 1_000, { job })
  const hasFailed = outcome === 'failed' || outcome === 'unsettled'
  telemetry.log(hasFailed ? 'warn' : 'debug', 'job_finished', { job, outcome, durationMs, error })
}

function recordModelCall(telemetry: Telemetry, { outcome, tokens }: ModelCallReport): void {
  telemetry.count('recollect_model_requests_total', { outcome })
  for (const direction of ['input', 'output'] as const) {
    const count = tokens?.[direction] ?? 0
    if (count > 0) telemetry.count('recollect_model_tokens_total', { direction }, count)
  }
}

/** A request continues without memory when memory fails, so only this line tells the cause. */
export function recordFailure(
  telemetry: Telemetry,
  { stage, owner, requestId, error }: MemoryFailure,
): void {
  const outcome = toAppError(error).code
  const operation = `conversations.${stage}`
  telemetry.log(outcome === 'internal' ? 'error' : 'warn', 'operation_failed', {
    ...{ operation, outcome, owner, requestId, error },
  })
}

function recordRequest(telemetry: Telemetry, report: RequestReport): void {
  const { method, route, status, ms, requestId, keyId, error } = report
  telemetry.count('recollect_http_requests_total', { method, route, status: String(status) })
  telemetry.observe('recollect_http_request_seconds', ms / 1_000, { method, route })
  const durationMs = Math.round(ms * 100) / 100
  const fields = { transport: 'http', method, route, status, durationMs, requestId, actor: keyId }
  if (status < SERVER_FAULT) telemetry.log('info', 'request', fields)
  else telemetry.log('error', 'request_failed', { ...fields, error })
}
