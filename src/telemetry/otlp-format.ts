/** Spans in OTLP's JSON encoding: ids as hex digits, 64-bit numbers as strings. */
import type { AttributeValue } from '@opentelemetry/api'
import type { EndedSpan } from './span-recorder.ts'

export type OtlpService = { readonly name: string; readonly version: string }

const STATUS_ERROR = 2
const LONE_HALF = /\p{Surrogate}/gu

export function encodeTraceRequest(service: OtlpService, spans: readonly EndedSpan[]): unknown {
  const about = [
    ['service.name', service.name],
    ['service.version', service.version],
  ] as const
  return {
    resourceSpans: [
      {
        resource: { attributes: about.map(([key, value]) => toAttribute(key, value)) },
        scopeSpans: [
          { scope: { name: 'recollect', version: service.version }, spans: spans.map(toSpan) },
        ],
      },
    ],
  }
}

function toSpan(span: EndedSpan): unknown {
  const { traceId, spanId } = span.context
  return {
    traceId,
    spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    // Span kinds count from one in the protocol, from zero in the API.
    kind: span.kind + 1,
    startTimeUnixNano: toNanoseconds(span.startMs),
    endTimeUnixNano: toNanoseconds(span.endMs),
    attributes: [...span.attributes].map(([key, value]) => toAttribute(key, value)),
    status: span.isFailed ? { code: STATUS_ERROR } : {},
  }
}

function toAttribute(key: string, value: AttributeValue): unknown {
  return { key, value: toValue(value) }
}

function toValue(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return { stringValue: value.replace(LONE_HALF, '\ufffd') }
    case 'boolean':
      return { boolValue: value }
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
    default:
      return Array.isArray(value) ? { arrayValue: { values: value.map(toValue) } } : {}
  }
}

/** A string, because a number of this size would lose its last digits. */
function toNanoseconds(ms: number): string {
  const whole = Math.floor(ms)
  const rest = Math.floor((ms - whole) * 1_000_000)
  return `${whole}${String(rest).padStart(6, '0')}`
}
