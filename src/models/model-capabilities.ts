/**
 * Capabilities of models by name. Only verified facts: a wrong limit loses memories, a wrong role loses the answer.
 * Unknown models are assumed to support everything.
 */
import type { Provider, ProviderModelConfig, SystemRole } from './provider.ts'

/** The operator's configuration takes precedence. */
export function getSystemRole(provider: Provider, model: string): SystemRole {
  const told = findConfiguredModel(provider, model)?.systemRole ?? provider.systemRole
  return told ?? getKnownSystemRole(provider.name, stripProviderPrefix(model)) ?? 'any'
}

/** In tokens. Ollama's limit depends on its settings, not on the model. */
export function getContextWindow(provider: Provider, model: string): number | null {
  const told = findConfiguredModel(provider, model)?.contextWindow ?? null
  if (told !== null || provider.kind === 'ollama' || provider.kind === 'demo') return told
  const name = stripProviderPrefix(model)
  return CONTEXT_WINDOWS.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

/** Whether requests may contain tools. Unknown models reject them themselves. */
export function hasToolSupport(provider: Provider, model: string): boolean {
  if (provider.kind === 'demo') return false
  const told = findConfiguredModel(provider, model)?.supportsTools ?? provider.supportsTools
  return told ?? !WITHOUT_TOOLS.test(stripProviderPrefix(model))
}

function findConfiguredModel({ models }: Provider, model: string): ProviderModelConfig | undefined {
  return models.find(({ id }) => id.toLowerCase() === model.toLowerCase())
}

/** Without the vendor: `zai-org/GLM-4.6` is `glm-4.6`. */
function stripProviderPrefix(model: string): string {
  return model.toLowerCase().slice(model.lastIndexOf('/') + 1)
}

/** Hosts whose newer GLM models accept it. */
const GLM_PROVIDERS: ReadonlySet<string> = new Set(['glm', 'glmt', 'glm-cn', 'zai'])
const WITHOUT_SYSTEM: ReadonlySet<string> = new Set(['o1', 'o1-mini', 'o1-preview', 'qianfan'])
const LEADING_SYSTEM: ReadonlySet<string> = new Set(['xiaomi-mimo', 'mimo', 'qwen'])

const O1 = /^o1(?:-mini|-preview)?(?:-\d{4}-\d{2}-\d{2})?$/
const WITHOUT_TOOLS = /^o1-(?:mini|preview)(?:-\d{4}-\d{2}-\d{2})?$/
const GLM = /^glm(?:-?(?<major>\d{1,2})(?!\d)(?:\.(?<minor>\d+))?|(?=-|$))/
const STRICT = /^(?:xiaomi-)?mimo(?![a-z])|^(?:qwen|qwq|qvq)/

/** Null when unknown. */
function getKnownSystemRole(providerName: string, model: string): SystemRole | null {
  const provider = providerName.toLowerCase()
  const glm = GLM.exec(model)?.groups
  if (WITHOUT_SYSTEM.has(provider) || O1.test(model)) return 'none'
  if (glm !== undefined) return isGpt51OrLater(glm) ? 'any' : 'none'
  if (GLM_PROVIDERS.has(provider)) return 'none'
  return LEADING_SYSTEM.has(provider) || STRICT.test(model) ? 'leading' : null
}

function isGpt51OrLater({
  major,
  minor,
}: {
  readonly [name: string]: string | undefined
}): boolean {
  const [first, second] = [Number(major ?? 0), Number(minor ?? 0)]
  return first > 5 || (first === 5 && second >= 1)
}

const DATED = String.raw`(?:-\d{4}-\d{2}-\d{2}|-latest)?`
/** Variant suffixes of hosts, such as `:free` or `-instruct-fp8`. */
const VARIANT = '(?:[-:@].*)?'

/** Model families, specific before general; patterns match whole names, so that `gpt-4o-realtime` is not `gpt-4o`. */
const CONTEXT_WINDOWS: readonly (readonly [RegExp, number])[] = [
  [buildWholeNamePattern(String.raw`gpt-3\.5-turbo(?:-0125|-1106|-16k)?`), 16_385],
  [buildWholeNamePattern('gpt-4(?:-0613|-0314)?'), 8_192],
  [buildWholeNamePattern('gpt-4-32k(?:-0613|-0314)?'), 32_768],
  [buildWholeNamePattern(`gpt-4-turbo(?:-preview)?${DATED}|gpt-4-(?:1106|0125)-preview`), 128_000],
  [buildWholeNamePattern(`(?:chat)?gpt-4o(?:-mini)?(?:-search-preview)?${DATED}`), 128_000],
  [buildWholeNamePattern(String.raw`gpt-4\.5-preview${DATED}`), 128_000],
  [buildWholeNamePattern(String.raw`gpt-4\.1(?:-mini|-nano)?${DATED}`), 1_047_576],
  [buildWholeNamePattern(String.raw`gpt-5(?:\.[12])?-chat-latest`), 128_000],
  [
    buildWholeNamePattern(String.raw`gpt-5(?:\.[12])?(?:-mini|-nano|-pro|-codex)?${DATED}`),
    400_000,
  ],
  [buildWholeNamePattern(`o1-(?:mini|preview)${DATED}`), 128_000],
  [buildWholeNamePattern(`o1(?:-pro)?${DATED}|o3(?:-mini|-pro)?${DATED}|o4-mini${DATED}`), 200_000],
  [buildWholeNamePattern(`gpt-oss(?:-\\d+b)?${VARIANT}`), 131_072],
  [buildWholeNamePattern(`claude-3(?:[-.][57])?-(?:opus|sonnet|haiku)${VARIANT}`), 200_000],
  [
    buildWholeNamePattern(
      String.raw`claude-(?:opus|sonnet|haiku)-4(?:[-.][015])?(?:[-@]\d{8})?(?:-latest)?`,
    ),
    200_000,
  ],
  [buildWholeNamePattern(String.raw`gemini-1\.5-pro(?:-latest|-00\d)?`), 2_097_152],
  [buildWholeNamePattern(String.raw`gemini-1\.5-flash(?:-8b)?(?:-latest|-00\d)?`), 1_048_576],
  [buildWholeNamePattern(String.raw`gemini-2\.0-flash(?:-lite)?(?:-00\d)?`), 1_048_576],
  [
    buildWholeNamePattern(
      String.raw`gemini-2\.5-(?:pro|flash|flash-lite)(?:-preview-\d{2}-\d{2,4})?`,
    ),
    1_048_576,
  ],
  [buildWholeNamePattern(`(?:meta-)?llama-?3[.-][123]${VARIANT}`), 131_072],
  [buildWholeNamePattern('(?:meta-)?llama-?3(?::.*|-(?:8|70)b.*)?'), 8_192],
  [buildWholeNamePattern(`(?:open-)?mixtral-8x7b${VARIANT}`), 32_768],
  [buildWholeNamePattern(`(?:open-)?mixtral-8x22b${VARIANT}`), 65_536],
  [buildWholeNamePattern(`gemma-?2${VARIANT}`), 8_192],
  [buildWholeNamePattern(`gemma-?3-(?:4|12|27)b${VARIANT}`), 131_072],
]

function buildWholeNamePattern(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`)
}
